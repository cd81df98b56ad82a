package main

import (
	"io"
	"net/http"
	"net/url"

	"github.com/gin-gonic/gin"
)

// idleMax is how many connections to the upstream are kept. Go's default keeps two, and closes all others after one
// request.
const idleMax = 1024

// gateway answers what the upstream knows of an item, with the member "via" added.
func gateway(upstream string) gin.HandlerFunc {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConns = idleMax
	transport.MaxIdleConnsPerHost = idleMax
	client := &http.Client{Transport: transport}

	return func(c *gin.Context) {
		address := upstream + "/items/" + url.PathEscape(c.Param("id"))
		request, err := http.NewRequestWithContext(c.Request.Context(), http.MethodGet, address, nil)
		if err != nil {
			c.String(http.StatusBadGateway, "%v", err)
			return
		}
		response, err := client.Do(request)
		if err != nil {
			c.String(http.StatusBadGateway, "%v", err)
			return
		}
		defer response.Body.Close()
		if response.StatusCode == http.StatusNotFound {
			// A connection is kept only if its answer was read to the end.
			io.Copy(io.Discard, response.Body)
			c.String(http.StatusNotFound, "the upstream knows no such item")
			return
		}
		if response.StatusCode != http.StatusOK {
			c.String(http.StatusBadGateway, "the upstream answered %d", response.StatusCode)
			return
		}
		object, err := decodeObject(response.Body)
		if err != nil {
			c.String(http.StatusBadGateway, "%v", err)
			return
		}
		object["via"] = "gateway"
		c.JSON(http.StatusOK, object)
	}
}
