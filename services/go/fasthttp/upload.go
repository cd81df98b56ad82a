package main

import (
	"io"
	"strconv"

	"github.com/valyala/fasthttp"
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

// upload reads the body as it comes, and holds none of it. It is read before anything is refused: what is left of a
// streamed body would be the next request to the server.
func upload(ctx *fasthttp.RequestCtx) {
	offset, invalid := strconv.Atoi(string(ctx.Request.Header.Peek("X-Offset")))
	p := probe{offset: offset}
	if body := ctx.RequestBodyStream(); body != nil {
		if _, err := io.Copy(&p, body); err != nil {
			ctx.Error(err.Error(), fasthttp.StatusBadRequest)
			return
		}
	}
	if invalid != nil || offset < 0 || offset >= p.bytes {
		ctx.Error("X-Offset must be an integer within the body", fasthttp.StatusBadRequest)
		return
	}
	writeJSON(ctx, uploaded{p.bytes, int(p.byte)})
}
