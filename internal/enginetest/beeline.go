package enginetest

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// beeline is the client that comes with Spark, as a child that lives as long as a test. It shares nothing with weir's
// own client.
type beeline struct {
	in    io.WriteCloser
	lines chan string
	said  *bytes.Buffer // errors, once it has ended
	asked int
}

// Spark returns the cluster that WEIR_SPARK names, which .ci/spark starts; ok is false where it names none.
func Spark(t testing.TB) (e Engine, ok bool) {
	t.Helper()
	words := os.Getenv("WEIR_SPARK")
	if words == "" {
		return Engine{}, false
	}
	url := "jdbc:hive2://" + words[strings.Index(words, "@")+1:]
	c := exec.Command(os.Getenv("SPARK_HOME")+"/bin/beeline", "-u", url, "-n", "weir", "--silent=true",
		"--showHeader=false", "--outputformat=csv2", "-f", "/dev/stdin")
	var output bytes.Buffer
	c.Stderr = &output
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	b := &beeline{in: in, lines: make(chan string), said: &output}
	go b.read(out)
	t.Cleanup(func() { _ = errors.Join(in.Close(), c.Wait()) }) // of a child that ends with the test
	for _, setting := range []string{"spark.sql.ansi.enabled=true", "spark.sql.session.timeZone=UTC",
		"spark.sql.variable.substitute=false"} {
		if _, err := b.rows("SET " + setting); err != nil {
			t.Fatal(err)
		}
	}
	return Engine{"spark", b.rows}, true
}

func (b *beeline) read(out io.Reader) {
	defer close(b.lines)
	for r := bufio.NewReader(out); ; {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		b.lines <- line
	}
}

// rows sends statements and reads up to the answer of one more. A statement that fails ends the child.
func (b *beeline) rows(statements string) ([][]string, error) {
	b.asked++
	last := fmt.Sprintf("end of %d", b.asked)
	go io.WriteString(b.in, strings.ReplaceAll(statements, "; ", ";\n")+";\nSELECT '"+last+"';\n")
	var text strings.Builder
	for after := time.After(5 * time.Minute); ; {
		select {
		case line, ok := <-b.lines:
			if !ok {
				return nil, fmt.Errorf("beeline has ended: %s", b.said)
			}
			if strings.TrimSpace(line) == last {
				return csv.NewReader(strings.NewReader(text.String())).ReadAll()
			}
			text.WriteString(line)
		case <-after:
			return nil, errors.New("no answer within five minutes")
		}
	}
}
