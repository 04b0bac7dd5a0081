#include "go_asm.h"
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

// LAYERS4 loads inside and width of the layers of the four words at off(SI); an entry
// of the table has 16 bytes.
#define LAYERS4(off, inside, width, tmp, xin, xtmp) \
	RORXL       $28, (off)(SI), AX         \
	RORXL       $28, (off+8)(SI), BX       \
	RORXL       $28, (off+16)(SI), DX      \
	RORXL       $28, (off+24)(SI), R10     \
	ANDL        $0x3FF0, AX             \
	ANDL        $0x3FF0, BX             \
	ANDL        $0x3FF0, DX             \
	ANDL        $0x3FF0, R10            \
	VMOVDQU     (R8)(AX*1), xin           \
	VMOVDQU     (R8)(BX*1), xtmp          \
	VINSERTI128 $1, (R8)(DX*1), inside, inside \
	VINSERTI128 $1, (R8)(R10*1), tmp, tmp \
	VPUNPCKHQDQ tmp, inside, width        \
	VPUNPCKLQDQ tmp, inside, inside

// NUMBER4 turns the four words at off(SI) into numbers in z and sets the lanes of
// inside whose word is inside. Y12 to Y15 are constants.
#define NUMBER4(off, words, inside, xin, width, z, xz, low) \
	VMOVDQU  (off)(SI), words        \
	LAYERS4(off, inside, width, z, xin, xz) \
	VPSRLQ   $11, words, z           \
	VPCMPGTQ z, inside, inside       \
	VPBLENDD $0xAA, Y12, z, low      \
	VPSRLQ   $32, z, z               \
	VPOR     Y13, z, z               \
	VSUBPD   Y14, z, z               \
	VADDPD   low, z, z               \
	VMULPD   width, z, z             \
	VPSLLQ   $53, words, words       \
	VPAND    Y15, words, words       \
	VPOR     words, z, z

// CONSTANTS loads what NUMBER4 needs.
#define CONSTANTS \
	VPBROADCASTQ exponent52<>(SB), Y12 \
	VPBROADCASTQ exponent84<>(SB), Y13 \
	VPBROADCASTQ exponents<>(SB), Y14  \
	VPBROADCASTQ sign<>(SB), Y15

// func normalsAVX2(dst *float64, words *byte, table *layer, inside *uint8, turns int)
TEXT ·normalsAVX2(SB), NOSPLIT, $0-40
	MOVQ    dst+0(FP), DI
	MOVQ    words+8(FP), SI
	MOVQ    table+16(FP), R8
	MOVQ    inside+24(FP), R9
	MOVQ    turns+32(FP), CX
	CONSTANTS
	PCALIGN $32

loop:
	NUMBER4(0, Y0, Y1, X1, Y2, Y3, X3, Y8)
	NUMBER4(32, Y4, Y5, X5, Y6, Y7, X7, Y9)
	VMOVDQU   Y3, (DI)
	VMOVDQU   Y7, 32(DI)
	VMOVMSKPD Y1, R11
	VMOVMSKPD Y5, R12
	SHLQ      $4, R12
	ORQ       R12, R11
	MOVB      R11, (R9)
	ADDQ      $64, SI
	ADDQ      $64, DI
	INCQ      R9
	DECQ      CX
	JNZ       loop
	VZEROUPPER
	RET

// NUMBER8 turns the eight words at (SI) into numbers in Z3 and sets K1 where a word
// is inside. Z15 is the sign.
#define NUMBER8 \
	VMOVDQU64    (SI), Z0      \
	LAYERS4(0, Y1, Y2, Y3, X1, X3)  \
	LAYERS4(32, Y5, Y6, Y7, X5, X7) \
	VINSERTI64X4 $1, Y5, Z1, Z1 \
	VINSERTI64X4 $1, Y6, Z2, Z2 \
	VPSRLQ       $11, Z0, Z3   \
	VPCMPUQ      $1, Z1, Z3, K1 \
	VCVTUQQ2PD   Z3, Z3        \
	VMULPD       Z2, Z3, Z3    \
	VPSLLQ       $53, Z0, Z0   \
	VPTERNLOGQ   $0xF8, Z15, Z0, Z3

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
	NUMBER8
	KMOVB     K1, (R9)
	VMOVDQU64 Z3, (DI)
	ADDQ      $64, SI
	ADDQ      $64, DI
	INCQ      R9
	DECQ      CX
	JNZ       loop512
	VZEROUPPER
	RET

// LATTICE4 adds the rounded numbers z to the four sums at off(DI), each rounded to
// the lattice, in the lanes of done, and takes from done those near a middle. Y6,
// Y7, Y8, Y10 and Y11 hold the bits of a size, limit, inverse, step and ratio.
#define LATTICE4(off, done, z, k, x, sum, xsum) \
	VMULPD     Y11, z, z       \
	VROUNDPD   $8, z, k        \
	VSUBPD     k, z, z         \
	VANDPD     Y6, z, z        \
	VCMPPD     $0x11, Y7, z, z \
	VANDPD     z, done, done   \
	VCVTPS2PD  (off)(DI), x    \
	VMULPD     Y8, x, sum      \
	VROUNDPD   $8, sum, sum    \
	VADDPD     k, sum, sum     \
	VMULPD     Y10, sum, sum   \
	VBLENDVPD  done, sum, x, sum \
	VCVTPD2PSY sum, xsum       \
	VMOVUPS    xsum, (off)(DI)

// func addNoiseAVX2(dst *float32, words *byte, table *layer, done *uint8, r *rounding, turns int)
TEXT ·addNoiseAVX2(SB), NOSPLIT, $0-48
	MOVQ         dst+0(FP), DI
	MOVQ         words+8(FP), SI
	MOVQ         table+16(FP), R8
	MOVQ         done+24(FP), R9
	MOVQ         r+32(FP), DX
	MOVQ         turns+40(FP), CX
	CONSTANTS
	VPCMPEQD     Y6, Y6, Y6
	VPSRLQ       $1, Y6, Y6
	VBROADCASTSD rounding_limit(DX), Y7
	VBROADCASTSD rounding_inverse(DX), Y8
	VBROADCASTSD rounding_step(DX), Y10
	VBROADCASTSD rounding_ratio(DX), Y11
	PCALIGN      $32

add:
	NUMBER4(0, Y0, Y1, X1, Y2, Y3, X3, Y4)
	LATTICE4(0, Y1, Y3, Y4, Y0, Y2, X2)
	VMOVMSKPD Y1, R11
	NUMBER4(32, Y0, Y1, X1, Y2, Y3, X3, Y4)
	LATTICE4(16, Y1, Y3, Y4, Y0, Y2, X2)
	VMOVMSKPD Y1, R12
	SHLQ      $4, R12
	ORQ       R12, R11
	MOVB      R11, (R9)
	ADDQ      $64, SI
	ADDQ      $32, DI
	INCQ      R9
	DECQ      CX
	JNZ       add
	VZEROUPPER
	RET

// func addNoiseAVX512(dst *float32, words *byte, table *layer, done *uint8, r *rounding, turns int)
TEXT ·addNoiseAVX512(SB), NOSPLIT, $0-48
	MOVQ         dst+0(FP), DI
	MOVQ         words+8(FP), SI
	MOVQ         table+16(FP), R8
	MOVQ         done+24(FP), R9
	MOVQ         r+32(FP), DX
	MOVQ         turns+40(FP), CX
	VPBROADCASTQ sign<>(SB), Z15
	VBROADCASTSD rounding_limit(DX), Z9
	VBROADCASTSD rounding_inverse(DX), Z10
	VBROADCASTSD rounding_step(DX), Z11
	VBROADCASTSD rounding_ratio(DX), Z12
	PCALIGN      $32

add512:
	NUMBER8
	VMULPD      Z12, Z3, Z3
	VRNDSCALEPD $8, Z3, Z4        // to nearest, ties to even
	VSUBPD      Z4, Z3, Z3
	VPANDNQ     Z3, Z15, Z3
	VCMPPD      $0x11, Z9, Z3, K1, K2 // inside and below limit
	KMOVB       K2, (R9)
	VMOVUPS     (DI), Y6
	VCVTPS2PD   Y6, Z5
	VMULPD      Z10, Z5, Z5
	VRNDSCALEPD $8, Z5, Z5
	VADDPD      Z4, Z5, Z5
	VMULPD      Z11, Z5, Z5
	VCVTPD2PS   Z5, K2, Y6
	VMOVUPS     Y6, (DI)
	ADDQ        $64, SI
	ADDQ        $32, DI
	INCQ        R9
	DECQ        CX
	JNZ         add512
	VZEROUPPER
	RET
