package main

import (
	"context"

	"github.com/valyala/fasthttp"

	"tare/fasthttp/templates"
)

//go:generate go run github.com/valyala/quicktemplate/qtc@v1.8.0 -dir templates -skipLineComments

func fortunes(db database) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		fortunes, err := db.fortunes(context.Background())
		if err != nil {
			ctx.Error(err.Error(), fasthttp.StatusInternalServerError)
			return
		}
		ctx.SetContentType("text/html; charset=utf-8")
		templates.WriteFortunesPage(ctx, fortunes)
	}
}
