package main

import (
	"context"
	"strconv"

	"github.com/valyala/fasthttp"
)

const queriesMax = 500

// addWorlds adds the routes of db, queries and updates. Their queries have a context of their own: fasthttp uses that of a
// request again when its handler has returned.
func addWorlds(o optional, db database) {
	o.byPath["/db"] = func(ctx *fasthttp.RequestCtx) {
		world, err := db.world(context.Background())
		if err != nil {
			ctx.Error(err.Error(), fasthttp.StatusInternalServerError)
			return
		}
		writeJSON(ctx, world)
	}
	o.byPath["/queries"] = func(ctx *fasthttp.RequestCtx) {
		worlds, err := db.randomWorlds(context.Background(), queries(ctx))
		if err != nil {
			ctx.Error(err.Error(), fasthttp.StatusInternalServerError)
			return
		}
		writeJSON(ctx, worlds)
	}
	o.byPath["/updates"] = func(ctx *fasthttp.RequestCtx) {
		worlds, err := db.updateWorlds(context.Background(), queries(ctx))
		if err != nil {
			ctx.Error(err.Error(), fasthttp.StatusInternalServerError)
			return
		}
		writeJSON(ctx, worlds)
	}
}

// queries is how many rows a request asks for. Atoi gives 0 for what is no integer, and the nearest integer for one that
// is too large.
func queries(ctx *fasthttp.RequestCtx) int {
	count, _ := strconv.Atoi(string(ctx.QueryArgs().Peek("queries")))
	return min(max(count, 1), queriesMax)
}
