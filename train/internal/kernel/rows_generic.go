package kernel

func rowDotsGeneric(dst, x, y []float32, rows, cols, ldx, ldy int) {
	for i := range rows {
		dst[i] = dot(x[i*ldx:i*ldx+cols], y[i*ldy:i*ldy+cols])
	}
}

// dot sums in 16 lanes, as the assembly does.
func dot(x, y []float32) float32 {
	var lane [16]float32
	for j, v := range x {
		lane[j%16] += float32(v * y[j])
	}
	var half [8]float32
	for j := range half {
		half[j] = lane[j] + lane[j+8]
	}
	return sum8(&half)
}

func scaleRowsGeneric(dst, x []float32, rows, cols, ldd, ldx int, s []float32) {
	for i := range rows {
		d := dst[i*ldd : i*ldd+cols]
		for j, v := range x[i*ldx : i*ldx+cols] {
			d[j] = v * s[i]
		}
	}
}
