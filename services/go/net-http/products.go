package main

import (
	"encoding/json"
	"net/http"
	"os"

	"github.com/klauspost/compress/gzhttp"
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
func addProducts(mux *http.ServeMux, products []product) error {
	compress, err := gzhttp.NewWrapper(gzhttp.MinSize(200))
	if err != nil {
		return err
	}
	list := listProducts(products)
	mux.HandleFunc("GET /json/{count}", list)
	mux.HandleFunc("GET /compress/{count}", compress(list))
	return nil
}

// listProducts answers the first of the products, each with its total.
func listProducts(products []product) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		count, err := bounded("count", r.PathValue("count"), len(products))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		factor, err := bounded("m", r.URL.Query().Get("m"), factorMax)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		items := make([]pricedProduct, count)
		for i, p := range products[:count] {
			items[i] = pricedProduct{p, p.Price * p.Quantity * factor}
		}
		writeJSON(w, productList{items, count})
	}
}
