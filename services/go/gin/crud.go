package main

import (
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/gin-gonic/gin/binding"
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

func addCrud(router *gin.Engine, db database) {
	c := crud{db}
	items := router.Group("/crud/items")
	items.Match(get, "", c.list)
	items.POST("", c.create)
	items.Match(get, "/:id", c.read)
	items.PUT("/:id", c.update)
}

func (crud crud) read(c *gin.Context) {
	id, err := itemID(c)
	if err != nil {
		c.String(http.StatusBadRequest, "%v", err)
		return
	}
	item, err := crud.db.item(c.Request.Context(), id)
	if err != nil {
		c.String(databaseStatus(err), "%v", err)
		return
	}
	c.JSON(http.StatusOK, item)
}

func (crud crud) list(c *gin.Context) {
	page, err := bounded("page", c.Query("page"), pageMax)
	if err != nil {
		c.String(http.StatusBadRequest, "%v", err)
		return
	}
	limit, err := bounded("limit", c.Query("limit"), limitMax)
	if err != nil {
		c.String(http.StatusBadRequest, "%v", err)
		return
	}
	category, ok := c.GetQuery("category")
	if !ok {
		c.String(http.StatusBadRequest, "category is missing")
		return
	}
	items, err := crud.db.items(c.Request.Context(), category, page, limit)
	if err != nil {
		c.String(databaseStatus(err), "%v", err)
		return
	}
	c.JSON(http.StatusOK, itemPage{items, page, limit})
}

func (crud crud) create(c *gin.Context) {
	draft, err := bindDraft(c)
	if err != nil {
		c.String(http.StatusBadRequest, "%v", err)
		return
	}
	item, err := crud.db.createItem(c.Request.Context(), draft)
	if err != nil {
		c.String(databaseStatus(err), "%v", err)
		return
	}
	c.JSON(http.StatusCreated, item)
}

func (crud crud) update(c *gin.Context) {
	id, err := itemID(c)
	if err != nil {
		c.String(http.StatusBadRequest, "%v", err)
		return
	}
	draft, err := bindDraft(c)
	if err != nil {
		c.String(http.StatusBadRequest, "%v", err)
		return
	}
	item, err := crud.db.updateItem(c.Request.Context(), id, draft)
	if err != nil {
		c.String(databaseStatus(err), "%v", err)
		return
	}
	c.JSON(http.StatusOK, item)
}

func itemID(c *gin.Context) (int32, error) {
	id, err := strconv.ParseInt(c.Param("id"), 10, 32)
	if err != nil {
		return 0, errors.New("an id is an integer of 32 bits")
	}
	return int32(id), nil
}

// bindDraft decodes the body, and lets gin's validator look for its members.
func bindDraft(c *gin.Context) (draft, error) {
	var d draft
	if err := decodeJSON(c.Request.Body, &d); err != nil {
		return draft{}, err
	}
	return d, binding.Validator.ValidateStruct(&d)
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
