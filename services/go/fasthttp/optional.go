package main

import (
	"strings"

	"github.com/valyala/fasthttp"
)

// parameterKey is the user value of a request that holds the parameter at the end of its path.
const parameterKey = "parameter"

// optional are the routes whose variables are set.
type optional struct {
	// byPath and byPrefix answer GET and HEAD. What follows a prefix is one parameter.
	byPath   map[string]fasthttp.RequestHandler
	byPrefix map[string]fasthttp.RequestHandler
	// crud and static are nil where they do not exist.
	crud   func(ctx *fasthttp.RequestCtx, path string)
	static fasthttp.RequestHandler
}

func newOptional(s settings) (optional, error) {
	o := optional{
		byPath:   map[string]fasthttp.RequestHandler{},
		byPrefix: map[string]fasthttp.RequestHandler{},
	}
	if s.database != nil {
		db, err := newDatabase(s.database)
		if err != nil {
			return optional{}, err
		}
		addWorlds(o, db)
		o.byPath["/fortunes"] = fortunes(db)
		o.crud = crud{db}.route
	}
	if s.products != nil {
		addProducts(o, s.products)
	}
	if s.static != "" {
		o.static = fasthttp.FSHandler(s.static, 1)
	}
	if s.upstream != "" {
		o.byPrefix["/gateway/"] = gateway(s.upstream)
	}
	return o, nil
}

func (o optional) get(ctx *fasthttp.RequestCtx, path string) {
	if handler, ok := o.byPath[path]; ok {
		handler(ctx)
		return
	}
	for prefix, handler := range o.byPrefix {
		if parameter, ok := parameter(path, prefix); ok {
			ctx.SetUserValue(parameterKey, parameter)
			handler(ctx)
			return
		}
	}
	if o.static != nil && strings.HasPrefix(path, "/static/") {
		o.static(ctx)
		return
	}
	ctx.NotFound()
}
