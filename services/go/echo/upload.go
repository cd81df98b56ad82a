package main

import (
	"io"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"
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
func upload(c echo.Context) error {
	offset, err := strconv.Atoi(c.Request().Header.Get("X-Offset"))
	if err != nil || offset < 0 {
		return echo.NewHTTPError(http.StatusBadRequest, "X-Offset must be an integer of at least 0")
	}
	p := probe{offset: offset}
	if _, err := io.Copy(&p, c.Request().Body); err != nil {
		return echo.NewHTTPError(http.StatusBadRequest, err.Error())
	}
	if offset >= p.bytes {
		return echo.NewHTTPError(http.StatusBadRequest, "X-Offset is not within the body")
	}
	return c.JSON(http.StatusOK, uploaded{p.bytes, int(p.byte)})
}
