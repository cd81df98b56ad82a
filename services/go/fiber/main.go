// The contracts of Tare on Fiber: its router, context and binding, and fasthttp below it.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/gofiber/fiber/v3"
	"github.com/gofiber/fiber/v3/middleware/static"
)

const (
	countDefault = 10_000
	countMax     = 1_000_000

	// grace is how long requests in flight may take to end after SIGTERM.
	grace = 250 * time.Millisecond
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == "--version" {
		fmt.Println(fiber.Version)
		return
	}
	s, err := settingsFromEnv()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if err := serve(s); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serve answers requests until SIGTERM arrives.
func serve(s settings) error {
	runtime.GOMAXPROCS(s.threads)
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM)

	server, err := routes(s)
	if err != nil {
		return err
	}
	failed := make(chan error, 1)
	config := fiber.ListenConfig{
		DisableStartupMessage: true,
		CertFile:              s.certFile,
		CertKeyFile:           s.keyFile,
	}
	go func() { failed <- server.Listen(fmt.Sprintf("%s:%d", s.serveOn, s.port), config) }()

	select {
	case err := <-failed:
		return err
	case <-terminated:
	}
	deadline, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	// What is still open at the deadline ends with the program.
	_ = server.ShutdownWithContext(deadline)
	return nil
}

func routes(s settings) (*fiber.App, error) {
	config := fiber.Config{JSONDecoder: decode, StreamRequestBody: true}
	if s.database != nil {
		config.Views = views()
	}
	app := fiber.New(config)
	app.Get("/", hello)
	app.Get("/api/test", api)
	app.Post("/test", echo(s))
	app.Get("/test/status", status)
	app.Get("/test/labels/:label", label)
	app.Get("/framework", framework)
	app.Get("/benchmark", benchmark)
	app.Post("/upload", upload)
	return app, addOptional(app, s)
}

// addOptional adds the routes whose variables are set.
func addOptional(app *fiber.App, s settings) error {
	if s.database != nil {
		db, err := newDatabase(s.database)
		if err != nil {
			return err
		}
		addWorlds(app, db)
		app.Get("/fortunes", fortunes(db))
		addCrud(app, db)
	}
	if s.products != nil {
		addProducts(app, s.products)
	}
	if s.static != "" {
		app.Get("/static/*", static.New(s.static))
	}
	if s.upstream != "" {
		app.Get("/gateway/:id", gateway(s.upstream))
	}
	return nil
}

// echo answers the object it is sent with the member "text" added. With a delay, at most s.threads messages are
// in it at once.
func echo(s settings) fiber.Handler {
	work := func() {}
	if s.delay > 0 {
		slots := make(chan struct{}, s.threads)
		work = func() {
			slots <- struct{}{}
			time.Sleep(s.delay)
			<-slots
		}
	}
	return func(c fiber.Ctx) error {
		var object map[string]any
		if err := c.Bind().JSON(&object); err != nil {
			return fiber.NewError(fiber.StatusBadRequest, err.Error())
		}
		if object == nil {
			return fiber.NewError(fiber.StatusBadRequest, "null is no object")
		}
		work()
		object["text"] = "received"
		return c.JSON(object)
	}
}

func hello(c fiber.Ctx) error {
	return c.SendString("Hello world!")
}

func api(c fiber.Ctx) error {
	return c.SendString("Hello, World!")
}

func status(c fiber.Ctx) error {
	return c.SendString("OK")
}

func label(c fiber.Ctx) error {
	return c.SendString(c.Params("label"))
}

func framework(c fiber.Ctx) error {
	return c.JSON(fiber.Map{"Hello": "world"})
}

func benchmark(c fiber.Ctx) error {
	count, err := parseCount(c)
	if err != nil {
		return err
	}
	texts := make([]string, count)
	for i := range texts {
		texts[i] = "Index " + strconv.Itoa(i)
	}
	return c.JSON(texts[:min(10, count)])
}

func parseCount(c fiber.Ctx) (int, error) {
	if !c.Request().URI().QueryArgs().Has("count") {
		return countDefault, nil
	}
	count, err := strconv.Atoi(c.Query("count"))
	if err != nil || count < 0 || count > countMax {
		return 0, fiber.NewError(fiber.StatusBadRequest, fmt.Sprintf("count must be an integer from 0 to %d", countMax))
	}
	return count, nil
}

// bounded reads an integer from 1 to high.
func bounded(name, text string, high int) (int, error) {
	value, err := strconv.Atoi(text)
	if err != nil || value < 1 || value > high {
		return 0, fiber.NewError(fiber.StatusBadRequest, fmt.Sprintf("%s must be an integer from 1 to %d", name, high))
	}
	return value, nil
}

// decode is json.Unmarshal, Fiber's default, but numbers keep their digits.
func decode(data []byte, value any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(value); err != nil {
		return err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return errors.New("something follows the value")
	}
	return nil
}
