package main

import (
	"io"
	"net/http"
	"strconv"
)

type uploaded struct {
	Bytes int `json:"bytes"`
	Byte  int `json:"byte"`
}

// probe counts the bytes that are written to it, and keeps the one at its offset.
type probe struct {
	offset int
	bytes  int
	byte   byte
}

func (p *probe) Write(data []byte) (int, error) {
	if at := p.offset - p.bytes; at >= 0 && at < len(data) {
		p.byte = data[at]
	}
	p.bytes += len(data)
	return len(data), nil
}

// upload reads the body as it comes, and holds none of it.
func upload(w http.ResponseWriter, r *http.Request) {
	offset, err := strconv.Atoi(r.Header.Get("X-Offset"))
	if err != nil || offset < 0 {
		http.Error(w, "X-Offset must be an integer of at least 0", http.StatusBadRequest)
		return
	}
	p := probe{offset: offset}
	if _, err := io.Copy(&p, r.Body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if offset >= p.bytes {
		http.Error(w, "X-Offset is not within the body", http.StatusBadRequest)
		return
	}
	writeJSON(w, uploaded{p.bytes, int(p.byte)})
}
