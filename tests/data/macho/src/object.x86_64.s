	.section __TEXT,__text,regular,pure_instructions
	.build_version macos, 11, 0 sdk_version 12, 1
	.globl _main
	.p2align 4
_main:
	callq _undefined
	leaq _string(%rip), %rdi
	movq _other@GOTPCREL(%rip), %rax
	movl $1, _local+4(%rip)
	ret
	.globl _weak_function
	.weak_definition _weak_function
_weak_function:
	ret
	.private_extern _hidden
_hidden:
	.data_region jt32
	.long _main-_hidden
	.end_data_region
	.section __TEXT,__cstring,cstring_literals
_string:
	.asciz "text"
	.section __DATA,__data
_local:
	.quad _main
	.quad _other+8
	.quad _hidden-_local
	.comm _common,32,4
	.weak_reference _perhaps
	.quad _perhaps
	.section __DATA,__mod_init_func,mod_init_funcs
	.quad _weak_function
	.linker_option "-lfoo", "-framework", "Bar"
	.subsections_via_symbols
