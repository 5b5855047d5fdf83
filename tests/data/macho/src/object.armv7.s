	.syntax unified
	.section __TEXT,__text,regular,pure_instructions
	.globl _f
	.thumb_func _f
	.code 16
	.p2align 1
_f:
	bl _undefined
	movw r0, :lower16:(_data-(Lpc+4))
	movt r0, :upper16:(_data-(Lpc+4))
Lpc:
	add r0, pc
	movw r1, :lower16:_other
	movt r1, :upper16:_other
	bx lr
	.section __DATA,__data
	.globl _data
_data:
	.long _f
	.long _other
	.long _data-_f
