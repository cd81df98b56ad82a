package main

import (
	"net/http"
	"os"

	"github.com/gin-contrib/gzip"
	"github.com/gin-gonic/gin"
	"github.com/gin-gonic/gin/codec/json"
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
	if err := json.API.Unmarshal(data, &products); err != nil {
		return nil, err
	}
	return products, nil
}

// addProducts adds the routes of json and compress.
func addProducts(router *gin.Engine, products []product) {
	list := listProducts(products)
	router.Match(get, "/json/:count", list)
	router.Match(get, "/compress/:count", gzip.Gzip(gzip.DefaultCompression), list)
}

// listProducts answers the first of the products, each with its total.
func listProducts(products []product) gin.HandlerFunc {
	return func(c *gin.Context) {
		count, err := bounded("count", c.Param("count"), len(products))
		if err != nil {
			c.String(http.StatusBadRequest, "%v", err)
			return
		}
		factor, err := bounded("m", c.Query("m"), factorMax)
		if err != nil {
			c.String(http.StatusBadRequest, "%v", err)
			return
		}
		items := make([]pricedProduct, count)
		for i, p := range products[:count] {
			items[i] = pricedProduct{p, p.Price * p.Quantity * factor}
		}
		c.JSON(http.StatusOK, productList{items, count})
	}
}
