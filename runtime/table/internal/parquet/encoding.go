package parquet

// byteStreamSplit is the encoding BYTE_STREAM_SPLIT by its number in the format.
const byteStreamSplit = 9

// merged makes a plain page of one whose values were split: all first bytes, then
// all second ones.
func merged(body []byte, width int, n int64) ([]byte, error) {
	if width == 0 || int64(len(body)) != n*int64(width) {
		return nil, errFew
	}
	out := make([]byte, len(body))
	for k := range width {
		from := body[int64(k)*n : int64(k+1)*n]
		for i, b := range from {
			out[i*width+k] = b
		}
	}
	return out, nil
}
