# A COFF object with what objects have: external, common, weak and section
# symbols, a file name, relocations, a COMDAT, linker directives.
	.file	"sample.c"
	.def	main
	.scl	2
	.type	32
	.endef
	.text
	.globl	main
main:
	subq	$40, %rsp
	callq	helper
	leaq	message(%rip), %rax
	movq	%rax, counter(%rip)
	addq	$40, %rsp
	retq
	.section	.rdata,"dr",one_only,message
	.globl	message
message:
	.asciz	"hello"
	.comm	counter, 8, 3
	.weak	maybe
	.data
	.quad	main
	.quad	maybe
	.section	a_long_section_name,"dr"
	.rva	message
	.section	.drectve,"yn"
	.ascii	" /EXPORT:main /DEFAULTLIB:libcmt"
