package votes

import (
	"fmt"
	"slices"

	"weir/pipeline/domain"
	"weir/schema"
	"weir/stages/model/internal/encoded"
	"weir/stages/model/internal/generator"
	"weir/train/net"
)

// leak is the slope of a leaky generator below zero, as of GANs on images (Radford et al. 2016).
const leak = 0.2

// nets are those of the settings, if a training of so many teachers can hold them.
func (s *PATEGAN) nets(d *domain.Domain, teachers int) (student, gen *net.Net, err error) {
	var ps schema.Problems
	generator.Shallow(&ps, "student", s.Student)
	generator.Shallow(&ps, "generator", s.Generator)
	width := encoded.Width(d)
	features := float64(s.features(d))
	c, g := generator.Widths(width, s.Student, 1), generator.Widths(1, s.Generator, width)
	generator.Fits(&ps, generator.Costs("generator", fmt.Sprint(s.Generator), generator.NetCopies*generator.Weights(g...)),
		generator.Costs("latent_dim", fmt.Sprint(s.LatentDim), float64(s.LatentDim)*(float64(generator.NetCopies*float64(g[1]))+float64(generator.PassCopies*float64(s.BatchSize)))),
		generator.Costs("student", fmt.Sprint(s.Student), generator.NetCopies*generator.Weights(c...)),
		generator.Costs("teacher_features", fmt.Sprintf("%s, %.0f for each of %d teachers", s.TeacherFeatures, features, teachers), teacherCopies*float64(teachers)*features),
		generator.Costs("batch_size", fmt.Sprint(s.BatchSize), generator.PassCopies*float64(s.BatchSize)*(features+generator.Units(g...)+generator.Units(c...))))
	if err := ps.Err(); err != nil {
		return nil, nil, err
	}
	hidden := generator.Leaky(leak, s.Generator)
	if s.Activation != "leaky_relu" {
		hidden.Activation, hidden.Slope = s.Activation, 0
	}
	judge := generator.Hidden{Units: s.Student, Activation: "relu"}
	if s.StudentNorm == "batch" {
		judge.Norm = "batch_norm"
	}
	if student, err = generator.Critic(judge, d); err != nil {
		return nil, nil, err
	}
	gen, err = generator.Generator(hidden, s.LatentDim, d)
	return student, gen, err
}

// teacherCopies of a teacher's weight: where it is, two moments, those in a checkpoint, a gradient.
const teacherCopies = 7

// features is how many numbers a teacher's score is linear in, its offset among them.
func (s *PATEGAN) features(d *domain.Domain) int { return encoded.Width(d) + s.pairs(d, nil) + 1 }

// products are those of two encoded columns, but for two of one one-hot group: of a real
// row they say nothing, and of a generated one only that it is not yet drawn. With a target
// they are the squares of numbers, and the products with the target's columns.
func (s *PATEGAN) products(d *domain.Domain) (list [][2]int32) {
	s.pairs(d, func(i, j int) { list = append(list, [2]int32{int32(i), int32(j)}) })
	return list
}

// pairs gives the places of the columns of each product, and counts them.
func (s *PATEGAN) pairs(d *domain.Domain, give func(i, j int)) (n int) {
	if s.TeacherFeatures == "columns" {
		return 0
	}
	var of []int
	for c, column := range d.Columns {
		of = append(of, slices.Repeat([]int{c}, column.Encoding.Width)...)
	}
	for i := range of {
		for j := range i + 1 {
			if s.multiplied(d, of[i], of[j]) {
				n++
				if give != nil {
					give(i, j)
				}
			}
		}
	}
	return n
}

// multiplied says whether encoded columns of table columns a and b have a product.
func (s *PATEGAN) multiplied(d *domain.Domain, a, b int) bool {
	if a == b {
		return d.Columns[a].Encoding.Form != domain.OneHot
	}
	return s.Target == "" || d.Columns[a].Name == s.Target || d.Columns[b].Name == s.Target
}
