package kernel

func columnSumsGeneric(sum []float64, x []float32, rows, ld int) {
	for i := range rows {
		for j, v := range x[i*ld:][:len(sum)] {
			sum[j] += float64(v)
		}
	}
}

func columnSquaresGeneric(sum, mean []float64, x []float32, rows, ld int) {
	for i := range rows {
		mean := mean[:len(sum)]
		for j, v := range x[i*ld:][:len(sum)] {
			d := float64(v) - mean[j]
			sum[j] += float64(d * d)
		}
	}
}

func columnDotsGeneric(sum, dot []float64, x, y []float32, rows, ld int) {
	for i := range rows {
		dot, y := dot[:len(sum)], y[i*ld:][:len(sum)]
		for j, v := range x[i*ld:][:len(sum)] {
			sum[j] += float64(v)
			dot[j] += float64(float64(v) * float64(y[j]))
		}
	}
}

func columnAddGeneric(sum, x []float32, rows, ld int) {
	for i := range rows {
		for j, v := range x[i*ld:][:len(sum)] {
			sum[j] += v
		}
	}
}

func columnMulAddGeneric(sum, x, y []float32, rows, ld int) {
	for i := range rows {
		y := y[i*ld:][:len(sum)]
		for j, v := range x[i*ld:][:len(sum)] {
			sum[j] += float32(v * y[j])
		}
	}
}

func standardiseGeneric(y, unit, x []float32, rows, ld int, mean, inverse []float64, gain, offset []float32) {
	inverse, gain, offset = inverse[:len(mean)], gain[:len(mean)], offset[:len(mean)]
	for i := range rows {
		y, unit, x := y[i*ld:][:len(mean)], unit[i*ld:][:len(mean)], x[i*ld:][:len(mean)]
		for j, v := range x {
			u := float32((float64(v) - mean[j]) * inverse[j])
			unit[j] = u
			y[j] = float32(u*gain[j]) + offset[j]
		}
	}
}

func unstandardiseGeneric(dst, x, unit []float32, rows, ld int, less, along, scale []float64) {
	along, scale = along[:len(less)], scale[:len(less)]
	for i := range rows {
		dst, x, unit := dst[i*ld:][:len(less)], x[i*ld:][:len(less)], unit[i*ld:][:len(less)]
		for j, v := range x {
			dst[j] = float32((float64(v) - less[j] - float64(float64(unit[j])*along[j])) * scale[j])
		}
	}
}

func bendGeneric(dx, u, a, t []float32, rows, ld int, b Bending) {
	for i := range rows {
		u, a, t := u[i*ld:], a[i*ld:], t[i*ld:]
		for j := range b.Unit {
			v := float64(float64(u[j]) * b.Unit[j])
			v += float64(b.Along[j]*(float64(a[j])-b.MeanA[j])) + float64(b.AlongA[j]*(float64(t[j])-b.MeanT[j]))
			dx[i*ld+j] -= float32(v * b.Gain[j] * b.Inverse[j] * b.Inverse[j])
		}
	}
}
