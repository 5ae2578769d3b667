package doc

import "fmt"

var stateKeys = []string{"id", "status", "pid", "bundle", "root", "annotations"}

// A State is what a runtime gives a hook on its standard input.
type State struct {
	ID, Status, Bundle string
	Root               string // crun's addition
	Pid                int
	Annotations        map[string]string
}

// ParseState reads a state, as strictly as a configuration: its annotations are
// as hostile.
func ParseState(data []byte) (*State, error) {
	if len(data) > MaxSize {
		return nil, fmt.Errorf("the state has %d bytes, more than the %d that are allowed", len(data), MaxSize)
	}
	s, f := &State{}, &File{}
	p := &scanner{s: string(data)}
	var top object
	err := p.object(&top, stateKeys, func(i int) (err error) {
		switch i {
		case 0:
			s.ID, err = p.text()
		case 1:
			s.Status, err = p.text()
		case 2:
			var pid uint32
			pid, err = p.integer()
			s.Pid = int(pid)
		case 3:
			s.Bundle, err = p.text()
		case 4:
			s.Root, err = p.text()
		case 5:
			err = f.scanAnnotations(p)
			s.Annotations = f.annotations
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if p.peek(); p.i < len(p.s) {
		return nil, p.fail(p.i, "more follows after the end of the document")
	}
	return s, nil
}
