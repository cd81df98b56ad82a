package main

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/valyala/fasthttp"
)

const (
	crudPath = "/crud/items"

	limitMax = 50
	pageMax  = math.MaxInt / limitMax
)

type itemPage struct {
	Items []item `json:"items"`
	Page  int    `json:"page"`
	Limit int    `json:"limit"`
}

// crud answers for the table items.
type crud struct {
	db database
}

// route tells methods and paths apart.
func (c crud) route(ctx *fasthttp.RequestCtx, path string) {
	if path == crudPath {
		switch {
		case ctx.IsGet(), ctx.IsHead():
			c.list(ctx)
		case ctx.IsPost():
			c.create(ctx)
		default:
			ctx.Error("Method Not Allowed", fasthttp.StatusMethodNotAllowed)
		}
		return
	}
	text, ok := parameter(path, crudPath+"/")
	if !ok {
		ctx.NotFound()
		return
	}
	id, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		ctx.Error("an id is an integer of 32 bits", fasthttp.StatusBadRequest)
		return
	}
	switch {
	case ctx.IsGet(), ctx.IsHead():
		c.read(ctx, int32(id))
	case ctx.IsPut():
		c.update(ctx, int32(id))
	default:
		ctx.Error("Method Not Allowed", fasthttp.StatusMethodNotAllowed)
	}
}

func (c crud) read(ctx *fasthttp.RequestCtx, id int32) {
	item, err := c.db.item(context.Background(), id)
	if err != nil {
		writeDatabaseError(ctx, err)
		return
	}
	writeJSON(ctx, item)
}

func (c crud) list(ctx *fasthttp.RequestCtx) {
	query := ctx.QueryArgs()
	page, err := bounded("page", string(query.Peek("page")), pageMax)
	if err != nil {
		ctx.Error(err.Error(), fasthttp.StatusBadRequest)
		return
	}
	limit, err := bounded("limit", string(query.Peek("limit")), limitMax)
	if err != nil {
		ctx.Error(err.Error(), fasthttp.StatusBadRequest)
		return
	}
	if !query.Has("category") {
		ctx.Error("category is missing", fasthttp.StatusBadRequest)
		return
	}
	items, err := c.db.items(context.Background(), string(query.Peek("category")), page, limit)
	if err != nil {
		writeDatabaseError(ctx, err)
		return
	}
	writeJSON(ctx, itemPage{items, page, limit})
}

func (c crud) create(ctx *fasthttp.RequestCtx) {
	draft, err := decodeDraft(ctx)
	if err != nil {
		ctx.Error(err.Error(), fasthttp.StatusBadRequest)
		return
	}
	item, err := c.db.createItem(context.Background(), draft)
	if err != nil {
		writeDatabaseError(ctx, err)
		return
	}
	ctx.SetStatusCode(fasthttp.StatusCreated)
	writeJSON(ctx, item)
}

func (c crud) update(ctx *fasthttp.RequestCtx, id int32) {
	draft, err := decodeDraft(ctx)
	if err != nil {
		ctx.Error(err.Error(), fasthttp.StatusBadRequest)
		return
	}
	item, err := c.db.updateItem(context.Background(), id, draft)
	if err != nil {
		writeDatabaseError(ctx, err)
		return
	}
	writeJSON(ctx, item)
}

func decodeDraft(ctx *fasthttp.RequestCtx) (draft, error) {
	var d draft
	if err := decodeJSON(ctx.PostBody(), &d); err != nil {
		return draft{}, err
	}
	if !d.complete() {
		return draft{}, errors.New("an item has a name, a category, a price and a quantity")
	}
	return d, nil
}

func writeDatabaseError(ctx *fasthttp.RequestCtx, err error) {
	ctx.Error(err.Error(), databaseStatus(err))
}

// databaseStatus is that of a client's error where there is no such row, or where PostgreSQL refuses a value: class 22 of
// its errors, such as a text with NUL.
func databaseStatus(err error) int {
	var refused *pgconn.PgError
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return fasthttp.StatusNotFound
	case errors.As(err, &refused) && strings.HasPrefix(refused.Code, "22"):
		return fasthttp.StatusBadRequest
	}
	return fasthttp.StatusInternalServerError
}
