package main

import (
	"embed"
	"net/http"

	"github.com/gofiber/fiber/v3"
	"github.com/gofiber/template/html/v2"
)

//go:embed fortunes.html
var templates embed.FS

// views is Fiber's engine for html/template.
func views() fiber.Views {
	return html.NewFileSystem(http.FS(templates), ".html")
}

func fortunes(db database) fiber.Handler {
	return func(c fiber.Ctx) error {
		fortunes, err := db.fortunes(c.Context())
		if err != nil {
			return err
		}
		return c.Render("fortunes", fortunes)
	}
}
