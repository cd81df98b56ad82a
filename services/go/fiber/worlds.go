package main

import (
	"strconv"

	"github.com/gofiber/fiber/v3"
)

const queriesMax = 500

// addWorlds adds the routes of db, queries and updates.
func addWorlds(app *fiber.App, db database) {
	app.Get("/db", func(c fiber.Ctx) error {
		world, err := db.world(c.Context())
		if err != nil {
			return err
		}
		return c.JSON(world)
	})
	app.Get("/queries", func(c fiber.Ctx) error {
		worlds, err := db.randomWorlds(c.Context(), queries(c))
		if err != nil {
			return err
		}
		return c.JSON(worlds)
	})
	app.Get("/updates", func(c fiber.Ctx) error {
		worlds, err := db.updateWorlds(c.Context(), queries(c))
		if err != nil {
			return err
		}
		return c.JSON(worlds)
	})
}

// queries is how many rows a request asks for. Atoi gives 0 for what is no integer, and the nearest integer for one that
// is too large.
func queries(c fiber.Ctx) int {
	count, _ := strconv.Atoi(c.Query("queries"))
	return min(max(count, 1), queriesMax)
}
