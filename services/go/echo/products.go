package main

import (
	"encoding/json"
	"net/http"
	"os"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
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
func addProducts(e *echo.Echo, products []product) {
	list := listProducts(products)
	e.Match(get, "/json/:count", list)
	e.Match(get, "/compress/:count", list, middleware.Gzip())
}

// listProducts answers the first of the products, each with its total.
func listProducts(products []product) echo.HandlerFunc {
	return func(c echo.Context) error {
		count, err := bounded("count", c.Param("count"), len(products))
		if err != nil {
			return err
		}
		factor, err := bounded("m", c.QueryParam("m"), factorMax)
		if err != nil {
			return err
		}
		items := make([]pricedProduct, count)
		for i, p := range products[:count] {
			items[i] = pricedProduct{p, p.Price * p.Quantity * factor}
		}
		return c.JSON(http.StatusOK, productList{items, count})
	}
}
