package main

import (
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/labstack/echo/v4"
)

// idleMax is how many connections to the upstream are kept. Go's default keeps two, and closes all others after one
// request.
const idleMax = 1024

// gateway answers what the upstream knows of an item, with the member "via" added.
func gateway(upstream string) echo.HandlerFunc {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConns = idleMax
	transport.MaxIdleConnsPerHost = idleMax
	client := &http.Client{Transport: transport}

	return func(c echo.Context) error {
		address := upstream + "/items/" + url.PathEscape(c.Param("id"))
		request, err := http.NewRequestWithContext(c.Request().Context(), http.MethodGet, address, nil)
		if err != nil {
			return echo.NewHTTPError(http.StatusBadGateway, err.Error())
		}
		response, err := client.Do(request)
		if err != nil {
			return echo.NewHTTPError(http.StatusBadGateway, err.Error())
		}
		defer response.Body.Close()
		if response.StatusCode == http.StatusNotFound {
			// A connection is kept only if its answer was read to the end.
			io.Copy(io.Discard, response.Body)
			return echo.ErrNotFound
		}
		if response.StatusCode != http.StatusOK {
			return echo.NewHTTPError(http.StatusBadGateway, fmt.Sprintf("the upstream answered %d", response.StatusCode))
		}
		var object map[string]any
		if err := decodeJSON(response.Body, &object); err != nil {
			return echo.NewHTTPError(http.StatusBadGateway, err.Error())
		}
		if object == nil {
			return echo.NewHTTPError(http.StatusBadGateway, "null is no object")
		}
		object["via"] = "gateway"
		return c.JSON(http.StatusOK, object)
	}
}
