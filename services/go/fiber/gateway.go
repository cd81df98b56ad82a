package main

import (
	"fmt"

	"github.com/gofiber/fiber/v3"
	"github.com/gofiber/fiber/v3/client"
	"github.com/valyala/fasthttp"
)

// connectionsMax is how many connections to the upstream may be open at once. A request beyond them fails.
const connectionsMax = 10_000

// gateway answers what the upstream knows of an item, with the member "via" added.
func gateway(upstream string) fiber.Handler {
	items := client.NewWithClient(&fasthttp.Client{MaxConnsPerHost: connectionsMax})
	items.SetBaseURL(upstream)
	items.SetJSONUnmarshal(decode)

	return func(c fiber.Ctx) error {
		response, err := items.Get("/items/"+c.Params("id"), client.Config{Ctx: c.Context()})
		if err != nil {
			return fiber.NewError(fiber.StatusBadGateway, err.Error())
		}
		defer response.Close()
		if response.StatusCode() == fiber.StatusNotFound {
			return fiber.ErrNotFound
		}
		if response.StatusCode() != fiber.StatusOK {
			return fiber.NewError(fiber.StatusBadGateway, fmt.Sprintf("the upstream answered %d", response.StatusCode()))
		}
		var object map[string]any
		if err := response.JSON(&object); err != nil {
			return fiber.NewError(fiber.StatusBadGateway, err.Error())
		}
		if object == nil {
			return fiber.NewError(fiber.StatusBadGateway, "null is no object")
		}
		object["via"] = "gateway"
		return c.JSON(object)
	}
}
