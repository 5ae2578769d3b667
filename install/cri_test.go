package install

import (
	"slices"
	"testing"
)

func TestPodsOfHandler(t *testing.T) {
	got := podsOfHandler([]byte(`{"items":[
		{"runtimeHandler":"envscrub","metadata":{"name":"a","namespace":"n","uid":"1"}},
		{"runtimeHandler":"","metadata":{"name":"b","namespace":"n"}}]}`))
	if !slices.Equal(got, []string{"n/a"}) {
		t.Errorf("got %v", got)
	}
	if got := podsOfHandler([]byte("crictl: no such file")); got != nil {
		t.Errorf("got %v", got)
	}
}
