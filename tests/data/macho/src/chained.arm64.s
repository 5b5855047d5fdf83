; Values that chained fixups must give back stand here: a peer that cannot
; print them is not needed (scripts/truth_macho.py, tests/native.rs).
	.section __TEXT,__text,regular,pure_instructions
	.globl _exported
	.p2align 2
_exported:
	adrp x0, _puts@GOTPAGE
	ldr x0, [x0, _puts@GOTPAGEOFF]
	bl _puts
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
	.quad 0x1122334455667788
	.quad _environ+8
	.quad _table+0x10
	.weak_reference _perhaps
	.quad _perhaps
	.globl _far
_far:
	.quad _table+0x5a00000000000008
	.section __DATA,__mod_init_func,mod_init_funcs
	.quad _static
	.zerofill __DATA,__bss,_zeros,64,3
	.subsections_via_symbols
