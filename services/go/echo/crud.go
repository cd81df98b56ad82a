package main

import (
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/labstack/echo/v4"
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

func addCrud(e *echo.Echo, db database) {
	c := crud{db}
	items := e.Group("/crud/items")
	items.Match(get, "", c.list)
	items.POST("", c.create)
	items.Match(get, "/:id", c.read)
	items.PUT("/:id", c.update)
}

func (crud crud) read(c echo.Context) error {
	id, err := itemID(c)
	if err != nil {
		return err
	}
	item, err := crud.db.item(c.Request().Context(), id)
	if err != nil {
		return databaseError(err)
	}
	return c.JSON(http.StatusOK, item)
}

func (crud crud) list(c echo.Context) error {
	page, err := bounded("page", c.QueryParam("page"), pageMax)
	if err != nil {
		return err
	}
	limit, err := bounded("limit", c.QueryParam("limit"), limitMax)
	if err != nil {
		return err
	}
	if !c.QueryParams().Has("category") {
		return echo.NewHTTPError(http.StatusBadRequest, "category is missing")
	}
	items, err := crud.db.items(c.Request().Context(), c.QueryParam("category"), page, limit)
	if err != nil {
		return databaseError(err)
	}
	return c.JSON(http.StatusOK, itemPage{items, page, limit})
}

func (crud crud) create(c echo.Context) error {
	draft, err := bindDraft(c)
	if err != nil {
		return err
	}
	item, err := crud.db.createItem(c.Request().Context(), draft)
	if err != nil {
		return databaseError(err)
	}
	return c.JSON(http.StatusCreated, item)
}

func (crud crud) update(c echo.Context) error {
	id, err := itemID(c)
	if err != nil {
		return err
	}
	draft, err := bindDraft(c)
	if err != nil {
		return err
	}
	item, err := crud.db.updateItem(c.Request().Context(), id, draft)
	if err != nil {
		return databaseError(err)
	}
	return c.JSON(http.StatusOK, item)
}

func itemID(c echo.Context) (int32, error) {
	id, err := strconv.ParseInt(c.Param("id"), 10, 32)
	if err != nil {
		return 0, echo.NewHTTPError(http.StatusBadRequest, "an id is an integer of 32 bits")
	}
	return int32(id), nil
}

func bindDraft(c echo.Context) (draft, error) {
	var d draft
	if err := c.Bind(&d); err != nil {
		return draft{}, err
	}
	if !d.complete() {
		return draft{}, echo.NewHTTPError(http.StatusBadRequest, "an item has a name, a category, a price and a quantity")
	}
	return d, nil
}

// databaseError is a client's error where there is no such row, or where PostgreSQL refuses a value: class 22 of its
// errors, such as a text with NUL.
func databaseError(err error) error {
	var refused *pgconn.PgError
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return echo.ErrNotFound
	case errors.As(err, &refused) && strings.HasPrefix(refused.Code, "22"):
		return echo.NewHTTPError(http.StatusBadRequest, refused.Message)
	}
	return err
}
