package main

import (
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"
)

const queriesMax = 500

// addWorlds adds the routes of db, queries and updates.
func addWorlds(router *gin.Engine, db database) {
	router.Match(get, "/db", func(c *gin.Context) {
		world, err := db.world(c.Request.Context())
		if err != nil {
			c.String(http.StatusInternalServerError, "%v", err)
			return
		}
		c.JSON(http.StatusOK, world)
	})
	router.Match(get, "/queries", func(c *gin.Context) {
		worlds, err := db.randomWorlds(c.Request.Context(), queries(c))
		if err != nil {
			c.String(http.StatusInternalServerError, "%v", err)
			return
		}
		c.JSON(http.StatusOK, worlds)
	})
	router.Match(get, "/updates", func(c *gin.Context) {
		worlds, err := db.updateWorlds(c.Request.Context(), queries(c))
		if err != nil {
			c.String(http.StatusInternalServerError, "%v", err)
			return
		}
		c.JSON(http.StatusOK, worlds)
	})
}

// queries is how many rows a request asks for. Atoi gives 0 for what is no integer, and the nearest integer for one that
// is too large.
func queries(c *gin.Context) int {
	count, _ := strconv.Atoi(c.Query("queries"))
	return min(max(count, 1), queriesMax)
}
