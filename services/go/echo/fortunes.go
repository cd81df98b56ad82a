package main

import (
	"embed"
	"html/template"
	"net/http"

	"github.com/labstack/echo/v4"
)

//go:embed fortunes.html
var templates embed.FS

func addFortunes(e *echo.Echo, db database) {
	e.Renderer = &echo.TemplateRenderer{Template: template.Must(template.ParseFS(templates, "*.html"))}
	e.Match(get, "/fortunes", func(c echo.Context) error {
		fortunes, err := db.fortunes(c.Request().Context())
		if err != nil {
			return err
		}
		return c.Render(http.StatusOK, "fortunes.html", fortunes)
	})
}
