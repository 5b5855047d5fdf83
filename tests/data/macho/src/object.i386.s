	.section __TEXT,__text,regular,pure_instructions
	.globl _f
_f:
	calll _undefined
	calll L0
L0:
	popl %eax
	movl _data-L0(%eax), %eax
	movl _other, %ecx
	ret
	.section __DATA,__data
	.globl _data
_data:
	.long _f
	.long _other
	.long _data-_f
