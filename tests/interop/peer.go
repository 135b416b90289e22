// SPDX-License-Identifier: MIT

// The side of Go's bloom in the interoperability tests: the commands of peer.c.
package main

import (
	"bufio"
	"bytes"
	"encoding/gob"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/willf/bloom"
)

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func number(s string) uint {
	n, err := strconv.ParseUint(s, 10, 64)
	must(err)
	return uint(n)
}

func keys(path string) (all [][]byte) {
	data, err := os.ReadFile(path)
	must(err)
	for _, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		key, err := hex.DecodeString(line)
		must(err)
		all = append(all, key)
	}
	if len(data) == 0 {
		return nil
	}
	return all
}

func save(f *bloom.BloomFilter, format, path string) {
	var out bytes.Buffer
	switch format {
	case "go":
		_, err := f.WriteTo(&out)
		must(err)
	case "go-gob":
		must(gob.NewEncoder(&out).Encode(f))
	case "go-json":
		text, err := json.Marshal(f)
		must(err)
		out.Write(text)
	}
	must(os.WriteFile(path, out.Bytes(), 0o644))
}

func load(format, path string) *bloom.BloomFilter {
	f := &bloom.BloomFilter{}
	data, err := os.ReadFile(path)
	must(err)
	switch format {
	case "go":
		_, err = f.ReadFrom(bytes.NewReader(data))
	case "go-gob":
		err = gob.NewDecoder(bytes.NewReader(data)).Decode(f)
	case "go-json":
		err = json.Unmarshal(data, f)
	}
	must(err)
	return f
}

func fill(f *bloom.BloomFilter, c []string) {
	for _, key := range keys(c[6]) {
		f.Add(key)
	}
	save(f, c[1], c[7])
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		c := strings.Split(in.Text(), "\t")
		switch c[0] {
		case "make":
			p, err := strconv.ParseFloat(c[5], 64)
			must(err)
			fill(bloom.NewWithEstimates(number(c[4]), p), c)
		case "new":
			fill(bloom.New(number(c[4]), number(c[5])), c)
		case "answer":
			f := load(c[1], c[3])
			var out strings.Builder
			for _, key := range keys(c[4]) {
				if f.Test(key) {
					out.WriteString("1\n")
				} else {
					out.WriteString("0\n")
				}
			}
			must(os.WriteFile(c[5], []byte(out.String()), 0o644))
		case "merge":
			f := load(c[1], c[2])
			must(f.Merge(load(c[1], c[3])))
			save(f, c[1], c[4])
		case "rate":
			rate := bloom.EstimateFalsePositiveRate(number(c[1]), number(c[2]), number(c[3]))
			hits := int(rate*100000 + 0.5)
			must(os.WriteFile(c[4], []byte(fmt.Sprintln(hits)), 0o644))
		default:
			panic(c[0])
		}
	}
}
