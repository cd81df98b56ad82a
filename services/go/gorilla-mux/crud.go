package main

import (
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/gorilla/mux"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	limitMax = 50
	pageMax  = math.MaxInt / limitMax
)

type itemPage struct {
	Items []item `json:"items"`
	Page  int    `json:"page"`
	Limit int    `json:"limit"`
}

// crud answers for the table items.
type crud struct {
	db database
}

func addCrud(router *mux.Router, db database) {
	c := crud{db}
	router.HandleFunc("/crud/items/{id}", c.read).Methods(http.MethodGet, http.MethodHead)
	router.HandleFunc("/crud/items", c.list).Methods(http.MethodGet, http.MethodHead)
	router.HandleFunc("/crud/items", c.create).Methods(http.MethodPost)
	router.HandleFunc("/crud/items/{id}", c.update).Methods(http.MethodPut)
}

func (c crud) read(w http.ResponseWriter, r *http.Request) {
	id, err := itemID(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	item, err := c.db.item(r.Context(), id)
	if err != nil {
		writeDatabaseError(w, err)
		return
	}
	writeJSON(w, item)
}

func (c crud) list(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	page, err := bounded("page", query.Get("page"), pageMax)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	limit, err := bounded("limit", query.Get("limit"), limitMax)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if !query.Has("category") {
		http.Error(w, "category is missing", http.StatusBadRequest)
		return
	}
	items, err := c.db.items(r.Context(), query.Get("category"), page, limit)
	if err != nil {
		writeDatabaseError(w, err)
		return
	}
	writeJSON(w, itemPage{items, page, limit})
}

func (c crud) create(w http.ResponseWriter, r *http.Request) {
	draft, err := decodeDraft(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	item, err := c.db.createItem(r.Context(), draft)
	if err != nil {
		writeDatabaseError(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	writeJSON(w, item)
}

func (c crud) update(w http.ResponseWriter, r *http.Request) {
	id, err := itemID(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	draft, err := decodeDraft(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	item, err := c.db.updateItem(r.Context(), id, draft)
	if err != nil {
		writeDatabaseError(w, err)
		return
	}
	writeJSON(w, item)
}

func itemID(r *http.Request) (int32, error) {
	id, err := strconv.ParseInt(mux.Vars(r)["id"], 10, 32)
	if err != nil {
		return 0, errors.New("an id is an integer of 32 bits")
	}
	return int32(id), nil
}

func decodeDraft(r *http.Request) (draft, error) {
	var d draft
	if err := decodeJSON(r.Body, &d); err != nil {
		return draft{}, err
	}
	if !d.complete() {
		return draft{}, errors.New("an item has a name, a category, a price and a quantity")
	}
	return d, nil
}

func writeDatabaseError(w http.ResponseWriter, err error) {
	http.Error(w, err.Error(), databaseStatus(err))
}

// databaseStatus is that of a client's error where there is no such row, or where PostgreSQL refuses a value: class 22 of
// its errors, such as a text with NUL.
func databaseStatus(err error) int {
	var refused *pgconn.PgError
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return http.StatusNotFound
	case errors.As(err, &refused) && strings.HasPrefix(refused.Code, "22"):
		return http.StatusBadRequest
	}
	return http.StatusInternalServerError
}
