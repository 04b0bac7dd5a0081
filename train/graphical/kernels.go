package graphical

import "math"

// sum adds the cells of a table into the part, which it clears first.
func (v *view) sum(table, part []float64) {
	clear(part)
	at := 0
	for _, o := range v.outer {
		for _, i := range v.inner {
			row, place := table[at:at+v.run], int(o+i)
			at += v.run
			if v.step {
				to := part[place : place+len(row)]
				for k, x := range row {
					to[k] += x
				}
				continue
			}
			s := 0.0
			for _, x := range row {
				s += x
			}
			part[place] += s
		}
	}
}

// scale multiplies every cell of a table by its place in the part.
func (v *view) scale(table, part []float64) {
	at := 0
	for _, o := range v.outer {
		for _, i := range v.inner {
			row, place := table[at:at+v.run], int(o+i)
			at += v.run
			if v.step {
				by := part[place : place+len(row)]
				for k := range row {
					row[k] *= by[k]
				}
				continue
			}
			by := part[place]
			for k := range row {
				row[k] *= by
			}
		}
	}
}

// add adds to every cell of a table its place in the part.
func (v *view) add(table, part []float64) {
	at := 0
	for _, o := range v.outer {
		for _, i := range v.inner {
			row, place := table[at:at+v.run], int(o+i)
			at += v.run
			if v.step {
				by := part[place : place+len(row)]
				for k := range row {
					row[k] += by[k]
				}
				continue
			}
			by := part[place]
			for k := range row {
				row[k] += by
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
