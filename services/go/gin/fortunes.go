package main

import (
	"embed"
	"html/template"
	"net/http"

	"github.com/gin-gonic/gin"
)

//go:embed fortunes.html
var templates embed.FS

func addFortunes(router *gin.Engine, db database) {
	router.SetHTMLTemplate(template.Must(template.ParseFS(templates, "*.html")))
	router.Match(get, "/fortunes", func(c *gin.Context) {
		fortunes, err := db.fortunes(c.Request.Context())
		if err != nil {
			c.String(http.StatusInternalServerError, "%v", err)
			return
		}
		c.HTML(http.StatusOK, "fortunes.html", fortunes)
	})
}
