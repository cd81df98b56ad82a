package main

import (
	"encoding/json"
	"os"

	"github.com/valyala/fasthttp"
)

const factorMax = 1_000_000

type product struct {
	ID       int      `json:"id"`
	Name     string   `json:"name"`
	Category string   `json:"category"`
	Price    int      `json:"price"`
	Quantity int      `json:"quantity"`
	Active   bool     `json:"active"`
	Tags     []string `json:"tags"`
	Rating   rating   `json:"rating"`
}

type rating struct {
	Score int `json:"score"`
	Count int `json:"count"`
}

type pricedProduct struct {
	product
	Total int `json:"total"`
}

type productList struct {
	Items []pricedProduct `json:"items"`
	Count int             `json:"count"`
}

func readProducts(file string) ([]product, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var products []product
	if err := json.Unmarshal(data, &products); err != nil {
		return nil, err
	}
	return products, nil
}

// addProducts adds the routes of json and compress.
func addProducts(o optional, products []product) {
	list := listProducts(products)
	o.byPrefix["/json/"] = list
	o.byPrefix["/compress/"] = fasthttp.CompressHandlerBrotliLevel(
		list, fasthttp.CompressBrotliDefaultCompression, fasthttp.CompressDefaultCompression)
}

// listProducts answers the first of the products, each with its total.
func listProducts(products []product) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		count, err := bounded("count", ctx.UserValue(parameterKey).(string), len(products))
		if err != nil {
			ctx.Error(err.Error(), fasthttp.StatusBadRequest)
			return
		}
		factor, err := bounded("m", string(ctx.QueryArgs().Peek("m")), factorMax)
		if err != nil {
			ctx.Error(err.Error(), fasthttp.StatusBadRequest)
			return
		}
		items := make([]pricedProduct, count)
		for i, p := range products[:count] {
			items[i] = pricedProduct{p, p.Price * p.Quantity * factor}
		}
		writeJSON(ctx, productList{items, count})
	}
}
