package main

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	worldCount = 10_000

	selectWorld    = "SELECT id, randomnumber FROM world WHERE id = $1"
	updateWorld    = "UPDATE world SET randomnumber = $2 WHERE id = $1"
	selectFortunes = "SELECT id, message FROM fortune"
	selectItem     = "SELECT id, name, category, price, quantity FROM items WHERE id = $1"
	selectItems    = "SELECT id, name, category, price, quantity FROM items WHERE category = $1 ORDER BY id LIMIT $2 OFFSET $3"
	insertItem     = "INSERT INTO items (name, category, price, quantity) VALUES ($1, $2, $3, $4) " +
		"RETURNING id, name, category, price, quantity"
	updateItem = "UPDATE items SET name = $2, category = $3, price = $4, quantity = $5 WHERE id = $1 " +
		"RETURNING id, name, category, price, quantity"
)

type world struct {
	ID           int32 `json:"id"`
	RandomNumber int32 `json:"randomNumber"`
}

type fortune struct {
	ID      int32
	Message string
}

type item struct {
	ID       int32  `json:"id"`
	Name     string `json:"name"`
	Category string `json:"category"`
	Price    int32  `json:"price"`
	Quantity int32  `json:"quantity"`
}

// draft is an item without its id, as a client sends it. A member that is missing is nil.
type draft struct {
	Name     *string `json:"name"`
	Category *string `json:"category"`
	Price    *int32  `json:"price"`
	Quantity *int32  `json:"quantity"`
}

func (d draft) complete() bool {
	return d.Name != nil && d.Category != nil && d.Price != nil && d.Quantity != nil
}

// database asks PostgreSQL. The pool opens a connection when a request first needs it; pgx prepares each statement once
// in each connection.
type database struct {
	pool *pgxpool.Pool
}

func newDatabase(config *pgxpool.Config) (database, error) {
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	return database{pool}, err
}

func (db database) world(ctx context.Context) (world, error) {
	var w world
	err := db.pool.QueryRow(ctx, selectWorld, randomWorld()).Scan(&w.ID, &w.RandomNumber)
	return w, err
}

// worlds reads each row by a query of its own. A batch sends them all before it waits for the first answer.
func (db database) worlds(ctx context.Context, ids []int32) ([]world, error) {
	worlds := make([]world, len(ids))
	batch := &pgx.Batch{}
	for i, id := range ids {
		batch.Queue(selectWorld, id).QueryRow(func(row pgx.Row) error {
			return row.Scan(&worlds[i].ID, &worlds[i].RandomNumber)
		})
	}
	return worlds, db.pool.SendBatch(ctx, batch).Close()
}

// randomWorlds reads count rows, some of which may be the same.
func (db database) randomWorlds(ctx context.Context, count int) ([]world, error) {
	ids := make([]int32, count)
	for i := range ids {
		ids[i] = randomWorld()
	}
	return db.worlds(ctx, ids)
}

// updateWorlds gives count different rows new numbers. They are written in ascending order, so that two requests never
// wait for each other. A batch is one transaction.
func (db database) updateWorlds(ctx context.Context, count int) ([]world, error) {
	ids := make(map[int32]struct{}, count)
	for len(ids) < count {
		ids[randomWorld()] = struct{}{}
	}
	worlds, err := db.worlds(ctx, slices.Sorted(maps.Keys(ids)))
	if err != nil {
		return nil, err
	}
	batch := &pgx.Batch{}
	for i := range worlds {
		worlds[i].RandomNumber = randomWorld()
		batch.Queue(updateWorld, worlds[i].ID, worlds[i].RandomNumber)
	}
	return worlds, db.pool.SendBatch(ctx, batch).Close()
}

// fortunes are those of the table and one that is added, by message. Go compares strings by their bytes.
func (db database) fortunes(ctx context.Context) ([]fortune, error) {
	// An error of Query comes out of CollectRows.
	rows, _ := db.pool.Query(ctx, selectFortunes)
	fortunes, err := pgx.CollectRows(rows, pgx.RowToStructByPos[fortune])
	if err != nil {
		return nil, err
	}
	fortunes = append(fortunes, fortune{0, "Additional fortune added at request time."})
	slices.SortFunc(fortunes, func(a, b fortune) int { return strings.Compare(a.Message, b.Message) })
	return fortunes, nil
}

func (db database) item(ctx context.Context, id int32) (item, error) {
	return scanItem(db.pool.QueryRow(ctx, selectItem, id))
}

func (db database) items(ctx context.Context, category string, page, limit int) ([]item, error) {
	rows, _ := db.pool.Query(ctx, selectItems, category, limit, (page-1)*limit)
	return pgx.CollectRows(rows, pgx.RowToStructByPos[item])
}

func (db database) createItem(ctx context.Context, d draft) (item, error) {
	return scanItem(db.pool.QueryRow(ctx, insertItem, d.Name, d.Category, d.Price, d.Quantity))
}

func (db database) updateItem(ctx context.Context, id int32, d draft) (item, error) {
	return scanItem(db.pool.QueryRow(ctx, updateItem, id, d.Name, d.Category, d.Price, d.Quantity))
}

func scanItem(row pgx.Row) (item, error) {
	var i item
	err := row.Scan(&i.ID, &i.Name, &i.Category, &i.Price, &i.Quantity)
	return i, err
}

// randomWorld is an id of the table world; its numbers are of the same range.
func randomWorld() int32 {
	return 1 + rand.Int32N(worldCount)
}
