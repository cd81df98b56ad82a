package main

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v3"
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

func addCrud(app *fiber.App, db database) {
	c := crud{db}
	items := app.Group("/crud/items")
	items.Get("", c.list)
	items.Post("", c.create)
	items.Get("/:id", c.read)
	items.Put("/:id", c.update)
}

func (crud crud) read(c fiber.Ctx) error {
	id, err := itemID(c)
	if err != nil {
		return err
	}
	item, err := crud.db.item(c.Context(), id)
	if err != nil {
		return databaseError(err)
	}
	return c.JSON(item)
}

func (crud crud) list(c fiber.Ctx) error {
	page, err := bounded("page", c.Query("page"), pageMax)
	if err != nil {
		return err
	}
	limit, err := bounded("limit", c.Query("limit"), limitMax)
	if err != nil {
		return err
	}
	if !c.Request().URI().QueryArgs().Has("category") {
		return fiber.NewError(fiber.StatusBadRequest, "category is missing")
	}
	items, err := crud.db.items(c.Context(), c.Query("category"), page, limit)
	if err != nil {
		return databaseError(err)
	}
	return c.JSON(itemPage{items, page, limit})
}

func (crud crud) create(c fiber.Ctx) error {
	draft, err := bindDraft(c)
	if err != nil {
		return err
	}
	item, err := crud.db.createItem(c.Context(), draft)
	if err != nil {
		return databaseError(err)
	}
	return c.Status(fiber.StatusCreated).JSON(item)
}

func (crud crud) update(c fiber.Ctx) error {
	id, err := itemID(c)
	if err != nil {
		return err
	}
	draft, err := bindDraft(c)
	if err != nil {
		return err
	}
	item, err := crud.db.updateItem(c.Context(), id, draft)
	if err != nil {
		return databaseError(err)
	}
	return c.JSON(item)
}

func itemID(c fiber.Ctx) (int32, error) {
	id, err := strconv.ParseInt(c.Params("id"), 10, 32)
	if err != nil {
		return 0, fiber.NewError(fiber.StatusBadRequest, "an id is an integer of 32 bits")
	}
	return int32(id), nil
}

func bindDraft(c fiber.Ctx) (draft, error) {
	var d draft
	if err := c.Bind().JSON(&d); err != nil {
		return draft{}, fiber.NewError(fiber.StatusBadRequest, err.Error())
	}
	if !d.complete() {
		return draft{}, fiber.NewError(fiber.StatusBadRequest, "an item has a name, a category, a price and a quantity")
	}
	return d, nil
}

// databaseError is a client's error where there is no such row, or where PostgreSQL refuses a value: class 22 of its
// errors, such as a text with NUL.
func databaseError(err error) error {
	var refused *pgconn.PgError
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return fiber.ErrNotFound
	case errors.As(err, &refused) && strings.HasPrefix(refused.Code, "22"):
		return fiber.NewError(fiber.StatusBadRequest, refused.Message)
	}
	return err
}
