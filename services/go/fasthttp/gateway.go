package main

import (
	"fmt"
	"net/url"

	"github.com/valyala/fasthttp"
)

// connectionsMax is how many connections to the upstream may be open at once. A request beyond them fails.
const connectionsMax = 10_000

// gateway answers what the upstream knows of an item, with the member "via" added.
func gateway(upstream string) fasthttp.RequestHandler {
	client := &fasthttp.Client{MaxConnsPerHost: connectionsMax}

	return func(ctx *fasthttp.RequestCtx) {
		request, response := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
		defer fasthttp.ReleaseRequest(request)
		defer fasthttp.ReleaseResponse(response)
		request.SetRequestURI(upstream + "/items/" + url.PathEscape(ctx.UserValue(parameterKey).(string)))
		if err := client.Do(request, response); err != nil {
			ctx.Error(err.Error(), fasthttp.StatusBadGateway)
			return
		}
		if response.StatusCode() == fasthttp.StatusNotFound {
			ctx.NotFound()
			return
		}
		if response.StatusCode() != fasthttp.StatusOK {
			ctx.Error(fmt.Sprintf("the upstream answered %d", response.StatusCode()), fasthttp.StatusBadGateway)
			return
		}
		object, err := decodeObject(response.Body())
		if err != nil {
			ctx.Error(err.Error(), fasthttp.StatusBadGateway)
			return
		}
		object["via"] = "gateway"
		writeJSON(ctx, object)
	}
}
