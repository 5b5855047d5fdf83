	.section __TEXT,__text,regular,pure_instructions
	.build_version ios, 14, 0
	.globl _f
	.p2align 2
_f:
	bl _undefined
	adrp x0, _data@PAGE
	add x0, x0, _data@PAGEOFF+16
	adrp x1, _other@GOTPAGE
	ldr x1, [x1, _other@GOTPAGEOFF]
	ret
	.section __DATA,__data
	.globl _data
	.p2align 3
_data:
	.quad _f
	.quad _other
	.quad _f-_data
	.long _other@GOT-.
	.section __DATA,__thread_vars,thread_local_variables
	.globl _tlv
_tlv:
	.quad __tlv_bootstrap
	.quad 0
	.quad _tlv$tlv$init
	.tbss _tlv$tlv$init, 8, 3
