package main

import (
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"
)

const queriesMax = 500

// addWorlds adds the routes of db, queries and updates.
func addWorlds(e *echo.Echo, db database) {
	e.Match(get, "/db", func(c echo.Context) error {
		world, err := db.world(c.Request().Context())
		if err != nil {
			return err
		}
		return c.JSON(http.StatusOK, world)
	})
	e.Match(get, "/queries", func(c echo.Context) error {
		worlds, err := db.randomWorlds(c.Request().Context(), queries(c))
		if err != nil {
			return err
		}
		return c.JSON(http.StatusOK, worlds)
	})
	e.Match(get, "/updates", func(c echo.Context) error {
		worlds, err := db.updateWorlds(c.Request().Context(), queries(c))
		if err != nil {
			return err
		}
		return c.JSON(http.StatusOK, worlds)
	})
}

// queries is how many rows a request asks for. Atoi gives 0 for what is no integer, and the nearest integer for one that
// is too large.
func queries(c echo.Context) int {
	count, _ := strconv.Atoi(c.QueryParam("queries"))
	return min(max(count, 1), queriesMax)
}
