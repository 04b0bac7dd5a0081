package graphical

import "math"

// sum adds the cells of a table into the part, which it clears first.
func (v *view) sum(table, part []float64) {
	clear(part)
	v.sumRows(table, part, 0, len(v.outer))
}

// sumRows does so for the outer places from lo to hi, without clearing.
func (v *view) sumRows(table, part []float64, lo, hi int) {
	at := lo * len(v.inner) * v.run
	for _, o := range v.outer[lo:hi] {
		for _, i := range v.inner {
			row, place := table[at:at+v.run], int(o+i)
			if at += v.run; !v.step {
				part[place] += rowSum(row)
				continue
			}
			to := part[place : place+len(row)]
			for k, x := range row {
				to[k] += x
			}
		}
	}
}

// rowSum adds four sums side by side: one addition need not wait for the last.
func rowSum(row []float64) float64 {
	var a, b, c, d float64
	for len(row) >= 4 {
		a, b, c, d = a+row[0], b+row[1], c+row[2], d+row[3]
		row = row[4:]
	}
	for _, x := range row {
		a += x
	}
	return a + b + (c + d)
}

// scaleRows multiplies every cell of a table by its place in the part, for the outer
// places from lo to hi.
func (v *view) scaleRows(table, part []float64, lo, hi int) {
	at := lo * len(v.inner) * v.run
	for _, o := range v.outer[lo:hi] {
		for _, i := range v.inner {
			row, place := table[at:at+v.run], int(o+i)
			if at += v.run; v.step {
				multiply(row, part[place:place+len(row)])
				continue
			}
			by := part[place]
			for k := range row {
				row[k] *= by
			}
		}
	}
}

func (v *view) scale(table, part []float64) { v.scaleRows(table, part, 0, len(v.outer)) }

func multiply(a, by []float64) {
	by = by[:len(a)]
	for i := range a {
		a[i] *= by[i]
	}
}

// add adds to every cell of a table its place in the part.
func (v *view) add(table, part []float64) {
	at := 0
	for _, o := range v.outer {
		for _, i := range v.inner {
			row, place := table[at:at+v.run], int(o+i)
			if at += v.run; v.step {
				for k, x := range part[place : place+len(row)] {
					row[k] += x
				}
				continue
			}
			x := part[place]
			for k := range row {
				row[k] += x
			}
		}
	}
}

// greatest is the largest cell of each place of the part.
func (v *view) greatest(table, part []float64) {
	for i := range part {
		part[i] = math.Inf(-1)
	}
	at := 0
	for _, o := range v.outer {
		for _, i := range v.inner {
			row, place := table[at:at+v.run], int(o+i)
			at += v.run
			for k, x := range row {
				to := place
				if v.step {
					to += k
				}
				if x > part[to] {
					part[to] = x
				}
			}
		}
	}
}
