	.section __TEXT,__text,regular,pure_instructions
	.globl _exported
	.p2align 4
_exported:
	callq _puts
	callq ___stack_chk_fail
	movq _environ@GOTPCREL(%rip), %rax
	ret
	.globl _weak_function
	.weak_definition _weak_function
_weak_function:
	callq _weak_function
	ret
	.globl _absolute
	.set _absolute, 0x1234
	.private_extern _hidden
_hidden:
	ret
_static:
	ret
	.section __DATA,__data
	.globl _table
	.p2align 3
_table:
	.quad _exported
	.quad _static
	.quad _puts
	.quad _weak_function
	.weak_reference _perhaps
	.quad _perhaps
	.section __DATA,__thread_vars,thread_local_variables
	.globl _tlv
_tlv:
	.quad __tlv_bootstrap
	.quad 0
	.quad _tlv$tlv$init
	.tbss _tlv$tlv$init, 8, 3
	.section __DATA,__mod_init_func,mod_init_funcs
	.quad _static
	.subsections_via_symbols
