#include "textflag.h"

// A 53-bit integer becomes a float64 exactly in two parts: its low 32 bits under
// the exponent of 2^52, the rest under the exponent of 2^84.
DATA exponent52<>+0(SB)/8, $0x4330000000000000
GLOBL exponent52<>(SB), RODATA|NOPTR, $8
DATA exponent84<>+0(SB)/8, $0x4530000000000000
GLOBL exponent84<>(SB), RODATA|NOPTR, $8
DATA exponents<>+0(SB)/8, $0x4530000000100000 // 2^84 + 2^52
GLOBL exponents<>(SB), RODATA|NOPTR, $8
DATA sign<>+0(SB)/8, $0x8000000000000000
GLOBL sign<>(SB), RODATA|NOPTR, $8

// LAYERS4 loads inside and width of the layers of the four words at off(SI).
#define LAYERS4(off, inside, width, tmp, xin, xtmp) \
	MOVWLZX     (off)(SI), AX             \
	MOVWLZX     (off+8)(SI), BX           \
	MOVWLZX     (off+16)(SI), DX          \
	MOVWLZX     (off+24)(SI), R10         \
	ANDL        $1023, AX                 \
	ANDL        $1023, BX                 \
	ANDL        $1023, DX                 \
	ANDL        $1023, R10                \
	SHLQ        $4, AX                    \
	SHLQ        $4, BX                    \
	SHLQ        $4, DX                    \
	SHLQ        $4, R10                   \
	VMOVDQU     (R8)(AX*1), xin           \
	VMOVDQU     (R8)(BX*1), xtmp          \
	VINSERTI128 $1, (R8)(DX*1), inside, inside \
	VINSERTI128 $1, (R8)(R10*1), tmp, tmp \
	VPUNPCKHQDQ tmp, inside, width        \
	VPUNPCKLQDQ tmp, inside, inside

// NORMAL4 turns the four words at off(SI) into numbers at off(DI) and sets the low
// four bits of mask where a word is inside. Y12 to Y15 are constants.
#define NORMAL4(off, mask, words, inside, xin, width, tmp, xtmp) \
	VMOVDQU    (off)(SI), words        \
	LAYERS4(off, inside, width, tmp, xin, xtmp) \
	VPSRLQ     $11, words, tmp         \
	VPCMPGTQ   tmp, inside, inside     \
	VMOVMSKPD  inside, mask            \
	VPBLENDD   $0xAA, Y12, tmp, inside \
	VPSRLQ     $32, tmp, tmp           \
	VPOR       Y13, tmp, tmp           \
	VSUBPD     Y14, tmp, tmp           \
	VADDPD     inside, tmp, tmp        \
	VMULPD     width, tmp, tmp         \
	VPSLLQ     $53, words, words       \
	VPAND      Y15, words, words       \
	VPOR       words, tmp, tmp         \
	VMOVDQU    tmp, (off)(DI)

// func normalsAVX2(dst *float64, words *byte, table *layer, inside *uint8, turns int)
TEXT ·normalsAVX2(SB), NOSPLIT, $0-40
	MOVQ         dst+0(FP), DI
	MOVQ         words+8(FP), SI
	MOVQ         table+16(FP), R8
	MOVQ         inside+24(FP), R9
	MOVQ         turns+32(FP), CX
	VPBROADCASTQ exponent52<>(SB), Y12
	VPBROADCASTQ exponent84<>(SB), Y13
	VPBROADCASTQ exponents<>(SB), Y14
	VPBROADCASTQ sign<>(SB), Y15
	PCALIGN      $32

loop:
	NORMAL4(0, R11, Y0, Y1, X1, Y2, Y3, X3)
	NORMAL4(32, R12, Y4, Y5, X5, Y6, Y7, X7)
	SHLQ $4, R12
	ORQ  R12, R11
	MOVB R11, (R9)
	ADDQ $64, SI
	ADDQ $64, DI
	INCQ R9
	DECQ CX
	JNZ  loop
	VZEROUPPER
	RET

// func normalsAVX512(dst *float64, words *byte, table *layer, inside *uint8, turns int)
TEXT ·normalsAVX512(SB), NOSPLIT, $0-40
	MOVQ         dst+0(FP), DI
	MOVQ         words+8(FP), SI
	MOVQ         table+16(FP), R8
	MOVQ         inside+24(FP), R9
	MOVQ         turns+32(FP), CX
	VPBROADCASTQ sign<>(SB), Z15
	PCALIGN      $32

loop512:
	VMOVDQU64    (SI), Z0
	LAYERS4(0, Y1, Y2, Y3, X1, X3)
	LAYERS4(32, Y5, Y6, Y7, X5, X7)
	VINSERTI64X4 $1, Y5, Z1, Z1
	VINSERTI64X4 $1, Y6, Z2, Z2
	VPSRLQ       $11, Z0, Z3
	VPCMPUQ      $1, Z1, Z3, K1       // position < inside
	KMOVB        K1, R11
	MOVB         R11, (R9)
	VCVTUQQ2PD   Z3, Z3
	VMULPD       Z2, Z3, Z3
	VPSLLQ       $53, Z0, Z0
	VPTERNLOGQ   $0xF8, Z15, Z0, Z3 // Z3 | Z0&Z15
	VMOVDQU64    Z3, (DI)
	ADDQ         $64, SI
	ADDQ         $64, DI
	INCQ         R9
	DECQ         CX
	JNZ          loop512
	VZEROUPPER
	RET

// func addRoundedAVX2(dst *float32, normal *float64, ratio, step, limit float64, turns int) (near uint64)
// Y11 holds the largest distance to an integer so far, Y13 the bits of a size.
TEXT ·addRoundedAVX2(SB), NOSPLIT, $0-56
	MOVQ         dst+0(FP), DI
	MOVQ         normal+8(FP), SI
	VBROADCASTSD ratio+16(FP), Y14
	VBROADCASTSD step+24(FP), Y15
	VBROADCASTSD limit+32(FP), Y12
	MOVQ         turns+40(FP), CX
	VPCMPEQD     Y13, Y13, Y13
	VPSRLQ       $1, Y13, Y13
	VXORPD       Y11, Y11, Y11
	PCALIGN      $32

add:
	VMULPD     (SI), Y14, Y4
	VMULPD     32(SI), Y14, Y5
	VROUNDPD   $8, Y4, Y0  // to nearest, ties to even
	VROUNDPD   $8, Y5, Y1
	VSUBPD     Y0, Y4, Y4
	VSUBPD     Y1, Y5, Y5
	VANDPD     Y13, Y4, Y4
	VANDPD     Y13, Y5, Y5
	VMAXPD     Y4, Y11, Y11
	VMAXPD     Y5, Y11, Y11
	VMULPD     Y15, Y0, Y0
	VMULPD     Y15, Y1, Y1
	VCVTPS2PD  (DI), Y2
	VCVTPS2PD  16(DI), Y3
	VADDPD     Y2, Y0, Y0
	VADDPD     Y3, Y1, Y1
	VCVTPD2PSY Y0, X0
	VCVTPD2PSY Y1, X1
	VMOVUPS    X0, (DI)
	VMOVUPS    X1, 16(DI)
	ADDQ       $64, SI
	ADDQ       $32, DI
	DECQ       CX
	JNZ        add
	VCMPPD     $0x1D, Y12, Y11, Y11 // Y11 >= limit
	VMOVMSKPD  Y11, AX
	VZEROUPPER
	MOVQ       AX, near+48(FP)
	RET
