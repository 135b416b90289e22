// SPDX-License-Identifier: MIT

// Writes the golden files of Go's bloom that a plain Add and WriteTo do not lead to: bit sets of
// another length than m, gob streams of programs that do more than encode one filter, and
// EstimateFalsePositiveRate's own numbers.
//
//	export GO111MODULE=off GOPATH=/usr/share/gocode
//	go run go_golden.go ../golden/go
//	go run go_golden.go ../golden/go later
package main

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"

	"github.com/willf/bloom"
)

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func write(name string, data []byte) {
	must(os.MkdirAll(filepath.Dir(name), 0o755))
	must(os.WriteFile(name, data, 0o644))
}

func save(base string, f *bloom.BloomFilter) {
	var plain, stream bytes.Buffer
	_, err := f.WriteTo(&plain)
	must(err)
	must(gob.NewEncoder(&stream).Encode(f))
	text, err := json.Marshal(f)
	must(err)
	write(base+".bin", plain.Bytes())
	write(base+".gob", stream.Bytes())
	write(base+".json", text)
}

type visited struct{ *bloom.BloomFilter }

type another struct{ A, B int }
type third struct{ C []another }

// A filter whose type is not the program's first, so that its ids are others.
func later(out string) {
	var stream, nowhere bytes.Buffer
	must(gob.NewEncoder(&nowhere).Encode(third{}))
	for i := 0; i < 70; i++ { // an id each, until ids take two bytes
		t := reflect.ArrayOf(i+1, reflect.TypeOf(another{}))
		must(gob.NewEncoder(&nowhere).EncodeValue(reflect.New(t)))
	}
	must(gob.NewEncoder(&stream).Encode(bloom.NewWithEstimates(100, 0.01).AddString("hello")))
	write(out+"/gob/later-ids.gob", stream.Bytes())
}

func main() {
	out := os.Args[1]
	if len(os.Args) > 2 {
		later(out)
		return
	}

	f := bloom.New(0, 3)
	save(out+"/lengths/new-0-3", f)
	save(out+"/lengths/new-0-3-added", f.AddString("x"))

	words := make([]uint64, 4)
	for i := 0; i < 256; i += 7 {
		words[i/64] |= 1 << (i % 64)
	}
	save(out+"/lengths/from-4-words-m130", bloom.FromWithM(words, 130, 2))

	// A type of another name that encodes as the filter inside it.
	var named bytes.Buffer
	g := bloom.NewWithEstimates(100, 0.01).AddString("hello")
	must(gob.NewEncoder(&named).Encode(visited{g}))
	write(out+"/gob/named-type.gob", named.Bytes())

	rates := "m\tk\tn\trate\n"
	for _, c := range [][3]uint{{9586, 7, 1000}, {7299, 6, 1000}, {1, 1, 1}, {0, 0, 10},
		{1000, 3, 100}, {64, 2, 16}, {20000, 5, 1000}, {192, 7, 20}} {
		rates += fmt.Sprintf("%d\t%d\t%d\t%v\n", c[0], c[1], c[2],
			bloom.EstimateFalsePositiveRate(c[0], c[1], c[2]))
	}
	write(out+"/tables/rates.tsv", []byte(rates))
}
