package main

import (
	"io"
	"strconv"

	"github.com/gofiber/fiber/v3"
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
func upload(c fiber.Ctx) error {
	offset, invalid := strconv.Atoi(c.Get("X-Offset"))
	p := probe{offset: offset}
	if body := c.Request().BodyStream(); body != nil {
		if _, err := io.Copy(&p, body); err != nil {
			return fiber.NewError(fiber.StatusBadRequest, err.Error())
		}
	}
	if invalid != nil || offset < 0 || offset >= p.bytes {
		return fiber.NewError(fiber.StatusBadRequest, "X-Offset must be an integer within the body")
	}
	return c.JSON(uploaded{p.bytes, int(p.byte)})
}
