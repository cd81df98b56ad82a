package main

import (
	"net/http"
	"strconv"
)

const queriesMax = 500

// addWorlds adds the routes of db, queries and updates.
func addWorlds(mux *http.ServeMux, db database) {
	mux.HandleFunc("GET /db", func(w http.ResponseWriter, r *http.Request) {
		world, err := db.world(r.Context())
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		writeJSON(w, world)
	})
	mux.HandleFunc("GET /queries", func(w http.ResponseWriter, r *http.Request) {
		worlds, err := db.randomWorlds(r.Context(), queries(r))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		writeJSON(w, worlds)
	})
	mux.HandleFunc("GET /updates", func(w http.ResponseWriter, r *http.Request) {
		worlds, err := db.updateWorlds(r.Context(), queries(r))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		writeJSON(w, worlds)
	})
}

// queries is how many rows a request asks for. Atoi gives 0 for what is no integer, and the nearest integer for one that
// is too large.
func queries(r *http.Request) int {
	count, _ := strconv.Atoi(r.URL.Query().Get("queries"))
	return min(max(count, 1), queriesMax)
}
