package main

import (
	"bytes"
	_ "embed"
	"html/template"
	"net/http"
)

//go:embed fortunes.html
var fortunesHTML string

var fortunesPage = template.Must(template.New("fortunes").Parse(fortunesHTML))

func fortunes(db database) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		fortunes, err := db.fortunes(r.Context())
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		// Into a buffer, so that an error of the template can still be answered with its status.
		var page bytes.Buffer
		if err := fortunesPage.Execute(&page, fortunes); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		page.WriteTo(w)
	}
}
