package anomaly

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/schema"
	"weir/stages/internal/columns"
	"weir/stages/model/artifact"
	"weir/train"
	"weir/train/net"
)

const (
	autoencoderFormat = 1

	describedBy  = "detector.json"
	weightPrefix = "weights/"

	chunk = 128 // rows that a net works on at once
)

// autoencoder is a released autoencoder: public facts and noised weights.
type autoencoder struct {
	domain  *domain.Domain
	net     *net.Net
	weights []float32
	lanes   sync.Pool // of *lane: batches of a loop are scored thousands of times, side by side
}

// lane is what one worker scores rows in.
type lane struct {
	pass *net.Pass
	x    net.Matrix
}

func (m *autoencoder) lane() *lane {
	if l, ok := m.lanes.Get().(*lane); ok {
		return l
	}
	return &lane{m.net.NewPass(chunk), net.NewMatrix(chunk, m.net.In())}
}

// packAutoencoder makes the artifact of a detector of header h.
func packAutoencoder(h pipeline.Header, n *net.Net, w []float32) (pipeline.Table, error) {
	description, err := json.Marshal(h.Domain)
	if err != nil {
		return pipeline.Table{}, err
	}
	files := []pipeline.File{{Name: describedBy, Data: description}}
	for name, x := range n.Export(w) {
		data, err := binary.Append(nil, binary.LittleEndian, x)
		if err != nil {
			return pipeline.Table{}, err
		}
		files = append(files, pipeline.File{Name: weightPrefix + name, Data: data})
	}
	return artifact.Pack(h, anomalyDetector, autoencoderFormat, files)
}

// readAutoencoder judges what was packed before it is used: it may come from anyone. The
// net follows from the domain, and its weights are as many as were packed.
func readAutoencoder(files map[string][]byte) (artifact.Scorer, error) {
	m := &autoencoder{domain: &domain.Domain{}}
	if err := json.Unmarshal(files[describedBy], m.domain); err != nil {
		return nil, fmt.Errorf("detector: %s: %w", describedBy, err)
	}
	weights, err := readWeights(files)
	if err == nil {
		err = m.check(weights)
	}
	if err != nil {
		return nil, fmt.Errorf("detector: %w", err)
	}
	return m, nil
}

func readWeights(files map[string][]byte) (map[string][]float32, error) {
	weights := map[string][]float32{}
	for name, data := range files {
		if name == describedBy {
			continue
		}
		tensor, known := strings.CutPrefix(name, weightPrefix)
		x := make([]float32, len(data)/4)
		if _, err := binary.Decode(data, binary.LittleEndian, x); err != nil || !known || len(data)%4 != 0 {
			return nil, fmt.Errorf("holds %.60q, must hold %s and the weights of its net, of 4 bytes each", name, describedBy)
		}
		for _, v := range x {
			if v != v || math.IsInf(float64(v), 0) {
				return nil, fmt.Errorf("weights %.60q: are not all finite, must be", tensor)
			}
		}
		weights[tensor] = x
	}
	return weights, nil
}

// check builds the net, once there are as many weights as it needs.
func (m *autoencoder) check(weights map[string][]float32) (err error) {
	if err := artifact.CheckDomain(m.domain); err != nil {
		return err
	}
	var ps schema.Problems
	if need(pipeline.Header{Domain: m.domain}, &ps); len(ps) > 0 {
		return fmt.Errorf("domain: %w", ps.Err())
	}
	there := 0
	for _, x := range weights {
		there += len(x)
	}
	in := width(m.domain)
	if most := math.Sqrt(float64(there)); float64(in) > most+1 { // 2 in (in/2) weights and more
		return errors.New("weights: are fewer than a net for the columns has, must be all of them")
	}
	if m.net, err = autoencoderNet(m.domain); err != nil {
		return err
	}
	m.weights, err = m.net.Import(weights)
	return err
}

// Domain implements artifact.Scorer.
func (m *autoencoder) Domain() *domain.Domain { return m.domain }

// Scores implements artifact.Scorer by the mean squared error of a row. That it is the row's own is
// the net's doing: each output of a product is one chain of sums in order of the inputs,
// whatever the other rows are (docs/kernels.md).
func (m *autoencoder) Scores(f *columns.Frame) ([]float64, error) {
	rows, err := code(m.domain, f)
	if err != nil {
		return nil, err
	}
	l := m.lane()
	defer m.lanes.Put(l)
	p, x := l.pass, l.x
	scores := make([]float64, 0, f.Rows)
	for at := 0; at < f.Rows; at += chunk {
		index := countFrom(at, min(at+chunk, f.Rows))
		rows.Gather(p.Input(len(index)), index)
		rows.Gather(x, index)
		y := p.Forward(m.weights, net.Mode{})
		for i := range index {
			scores = append(scores, squaredError(x.Row(i), y.Row(i)))
		}
	}
	return scores, nil
}

func countFrom(from, to int) []int32 {
	index := make([]int32, 0, to-from)
	for i := from; i < to; i++ {
		index = append(index, int32(i))
	}
	return index
}

// squaredError returns the mean over columns. Of weights so large that sums overflow it may be
// no number, which counts as the worst.
func squaredError(x, y []float32) float64 {
	sum := 0.0
	for j, v := range x {
		d := float64(v) - float64(y[j])
		sum += float64(d * d)
	}
	if sum != sum {
		return math.Inf(1)
	}
	return sum / float64(len(x))
}

// A detector looks at rows of a table as it is before the stage encode, so that one
// detector serves private rows and drawn ones, which have the source's columns again. What
// it makes of a value follows from the domain and that value alone:
//
//   - a number is its place between its bounds, 0 to 1, an ordinal or boolean category its
//     place in the list;
//   - another category is a 1 among zeros;
//   - missing is a category more, or the middle with a 1 in a number of its own.
const (
	middle = 0.5
	// reach is how far outside its bounds, in lengths of them, a value is still told from
	// those further out. Who leaves values outside wants them found.
	reach = 10
)

// width returns how many numbers a row of d becomes.
func width(d *domain.Domain) int {
	n := 0
	for i := range d.Columns {
		n += widthOf(&d.Columns[i])
	}
	return n
}

func widthOf(c *domain.Column) int {
	n := 1
	if c.Type == domain.Categorical {
		n = len(c.Categories)
	}
	if c.Nullable {
		n++
	}
	return n
}

// code makes the rows of a frame that has the columns of d numbers.
func code(d *domain.Domain, f *columns.Frame) (*train.Rows, error) {
	rows := train.NewRows(f.Rows)
	for i := range d.Columns {
		c := &d.Columns[i]
		source := f.Column(c.Name)
		if source == nil {
			return nil, fmt.Errorf("column %s: is missing, must be there", c.Name)
		}
		if err := add(rows, c, source); err != nil {
			return nil, fmt.Errorf("column %s: %w", c.Name, err)
		}
	}
	return rows, nil
}

func add(rows *train.Rows, c *domain.Column, source *columns.Column) error {
	if c.Type == domain.Categorical {
		return train.Categorical(rows, categories(c, source.Codes), widthOf(c))
	}
	values, absent := places(c, source)
	err := rows.Numeric(values)
	if err == nil && c.Nullable {
		err = rows.Numeric(absent)
	}
	return err
}

// categories returns codes, of which missing is the last; where the domain has none missing,
// rows refuse one.
func categories(c *domain.Column, from []int32) []int32 {
	dst := make([]int32, len(from))
	for i, v := range from {
		if dst[i] = v; v < 0 && c.Nullable {
			dst[i] = int32(len(c.Categories))
		}
	}
	return dst
}

// places returns where values lie, and ones where they are missing.
func places(c *domain.Column, source *columns.Column) (values, absent []float32) {
	lo, length := 0., math.Max(1, float64(len(c.Categories)-1))
	if !c.Type.Coded() {
		lo, length = c.Bounds[0], c.Bounds[1]-c.Bounds[0]
	}
	n := max(len(source.Codes), len(source.Numbers))
	values, absent = make([]float32, n), make([]float32, n)
	for i := range n {
		switch {
		case source.Absent(i):
			values[i], absent[i] = middle, 1
		case c.Type.Coded():
			values[i] = place(float64(source.Codes[i]), lo, length)
		default:
			values[i] = place(source.Numbers[i], lo, length)
		}
	}
	return values, absent
}

// place returns 0 at lo and 1 a length above. Of bounds with one value between, which have no
// length, that value is at 0 and others are out of reach.
func place(x, lo, length float64) float32 {
	if x == lo {
		return 0
	}
	return float32(min(max((x-lo)/length, -reach), 1+reach))
}

// need adds a problem for each column that a detector cannot look at.
func need(h pipeline.Header, ps *schema.Problems) {
	var encoded []string
	for i := range h.Domain.Columns {
		c := &h.Domain.Columns[i]
		found, dropped := fmt.Sprintf("a table whose column %s is ", c.Name),
			"; drop it where the detector need not look at it"
		switch {
		case c.Encoding != nil:
			encoded = append(encoded, c.Name)
		case c.Private() || c.Type.Coded() && c.Type != domain.Boolean && len(c.Categories) == 0:
			ps.Refuse("W02", "from", found+"without declared categories",
				"one with categories that are public or released (dp_categories)"+dropped)
		case c.Type == domain.Text:
			ps.Add("from", found+"text", "a table of numbers and categories"+dropped)
		case !c.Type.Coded() && c.Bounds == nil:
			ps.Refuse("W01", "from", found+"a number without bounds", "one with bounds that are public or released (dp_bounds)"+
				dropped)
		}
	}
	if len(encoded) > 0 {
		ps.Add("from", "a table whose "+pipeline.ColumnsAre(encoded)+" encoded", "a table as it is before the stage encode")
	}
	if err := artifact.CheckDomain(&domain.Domain{Columns: h.Domain.Columns}); err != nil && len(*ps) == 0 {
		ps.Add("from", "a table of which a detector cannot be released: "+err.Error(),
			"a table whose detector can be read back")
	}
}
