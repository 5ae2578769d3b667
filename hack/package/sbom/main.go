// sbom prints a CycloneDX bill of materials of Go programs: the modules that the
// linker says it put in, which is more exact than what go.mod lists.
package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
)

type component struct {
	Type    string `json:"type"`
	BOMRef  string `json:"bom-ref,omitempty"`
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	PURL    string `json:"purl,omitempty"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn"`
}

type bom struct {
	BOMFormat   string `json:"bomFormat"`
	SpecVersion string `json:"specVersion"`
	Version     int    `json:"version"`
	Metadata    struct {
		Component component `json:"component"`
	} `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(files []string) error {
	out := bom{BOMFormat: "CycloneDX", SpecVersion: "1.5", Version: 1}
	modules := map[string]component{}
	for _, file := range files {
		info, err := buildinfo.ReadFile(file)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		out.Metadata.Component = component{Type: "application", BOMRef: purl(info.Main.Path, info.Main.Version), Name: info.Main.Path, Version: info.Main.Version}
		name := filepath.Base(file)
		d := dependency{Ref: "program:" + name, DependsOn: []string{"pkg:golang/std@" + info.GoVersion}}
		modules["std"] = component{Type: "library", BOMRef: "pkg:golang/std@" + info.GoVersion, Name: "std", Version: info.GoVersion, PURL: "pkg:golang/std@" + info.GoVersion}
		for _, m := range info.Deps {
			c := module(m)
			modules[c.Name] = c
			d.DependsOn = append(d.DependsOn, c.BOMRef)
		}
		slices.Sort(d.DependsOn)
		out.Components = append(out.Components, component{Type: "application", BOMRef: d.Ref, Name: name, Version: info.Main.Version})
		out.Dependencies = append(out.Dependencies, d)
	}
	for _, c := range modules {
		out.Components = append(out.Components, c)
	}
	slices.SortFunc(out.Components, func(a, b component) int { return strings.Compare(a.BOMRef, b.BOMRef) })
	slices.SortFunc(out.Dependencies, func(a, b dependency) int { return strings.Compare(a.Ref, b.Ref) })
	enc := json.NewEncoder(os.Stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}

func module(m *debug.Module) component {
	if m.Replace != nil {
		m = m.Replace
	}
	ref := purl(m.Path, m.Version)
	return component{Type: "library", BOMRef: ref, Name: m.Path, Version: m.Version, PURL: ref}
}

func purl(path, version string) string {
	return "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")
}
