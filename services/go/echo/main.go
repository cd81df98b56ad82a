// The contracts of Tare on Echo: its router, context and binding, and net/http below it.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/labstack/echo/v4"
	"golang.org/x/net/http2"
)

// get are the methods of a route for GET, which answers no other: HEAD too, whose body net/http leaves out.
var get = []string{http.MethodGet, http.MethodHead}

const (
	countDefault = 10_000
	countMax     = 1_000_000

	// grace is how long requests in flight may take to end after SIGTERM.
	grace = 250 * time.Millisecond
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == "--version" {
		fmt.Println(echo.Version)
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
	server.HideBanner = true
	server.HidePort = true
	// Its default would take 0.0.0.0 for all addresses of IPv6 too.
	server.ListenerNetwork = "tcp4"
	failed := make(chan error, 1)
	go func() { failed <- start(server, s) }()

	select {
	case err := <-failed:
		return err
	case <-terminated:
	}
	deadline, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	// What is still open at the deadline ends with the program.
	_ = server.Shutdown(deadline)
	return nil
}

// start answers over TLS in HTTP/1.1 or HTTP/2, as ALPN chooses.
func start(server *echo.Echo, s settings) error {
	address := fmt.Sprintf("%s:%d", s.serveOn, s.port)
	switch {
	case s.certFile != "":
		return server.StartTLS(address, s.certFile, s.keyFile)
	case s.h2c:
		return server.StartH2CServer(address, &http2.Server{})
	}
	return server.Start(address)
}

func routes(s settings) (*echo.Echo, error) {
	e := echo.New()
	e.JSONSerializer = serializer{}
	e.Match(get, "/", hello)
	e.Match(get, "/api/test", api)
	e.POST("/test", message(s))
	e.Match(get, "/test/status", status)
	e.Match(get, "/test/labels/:label", label)
	e.Match(get, "/framework", framework)
	e.Match(get, "/benchmark", benchmark)
	e.POST("/upload", upload)
	return e, addOptional(e, s)
}

// addOptional adds the routes whose variables are set.
func addOptional(e *echo.Echo, s settings) error {
	if s.database != nil {
		db, err := newDatabase(s.database)
		if err != nil {
			return err
		}
		addWorlds(e, db)
		addFortunes(e, db)
		addCrud(e, db)
	}
	if s.products != nil {
		addProducts(e, s.products)
	}
	if s.static != "" {
		e.Static("/static", s.static)
	}
	if s.upstream != "" {
		e.Match(get, "/gateway/:id", gateway(s.upstream))
	}
	return nil
}

// message answers the object it is sent with the member "text" added. With a delay, at most s.threads messages are
// in it at once.
func message(s settings) echo.HandlerFunc {
	work := func() {}
	if s.delay > 0 {
		slots := make(chan struct{}, s.threads)
		work = func() {
			slots <- struct{}{}
			time.Sleep(s.delay)
			<-slots
		}
	}
	return func(c echo.Context) error {
		var object map[string]any
		if err := c.Bind(&object); err != nil {
			return err
		}
		if object == nil {
			return echo.NewHTTPError(http.StatusBadRequest, "no object")
		}
		work()
		object["text"] = "received"
		return c.JSON(http.StatusOK, object)
	}
}

func hello(c echo.Context) error {
	return c.String(http.StatusOK, "Hello world!")
}

func api(c echo.Context) error {
	return c.String(http.StatusOK, "Hello, World!")
}

func status(c echo.Context) error {
	return c.String(http.StatusOK, "OK")
}

func label(c echo.Context) error {
	return c.String(http.StatusOK, c.Param("label"))
}

func framework(c echo.Context) error {
	return c.JSON(http.StatusOK, map[string]string{"Hello": "world"})
}

func benchmark(c echo.Context) error {
	count, err := parseCount(c)
	if err != nil {
		return err
	}
	texts := make([]string, count)
	for i := range texts {
		texts[i] = "Index " + strconv.Itoa(i)
	}
	return c.JSON(http.StatusOK, texts[:min(10, count)])
}

func parseCount(c echo.Context) (int, error) {
	if !c.QueryParams().Has("count") {
		return countDefault, nil
	}
	count, err := strconv.Atoi(c.QueryParam("count"))
	if err != nil || count < 0 || count > countMax {
		return 0, echo.NewHTTPError(http.StatusBadRequest, fmt.Sprintf("count must be an integer from 0 to %d", countMax))
	}
	return count, nil
}

// bounded reads an integer from 1 to high.
func bounded(name, text string, high int) (int, error) {
	value, err := strconv.Atoi(text)
	if err != nil || value < 1 || value > high {
		return 0, echo.NewHTTPError(http.StatusBadRequest, fmt.Sprintf("%s must be an integer from 1 to %d", name, high))
	}
	return value, nil
}

// serializer is Echo's own but for two things: numbers keep their digits, and nothing may follow the value.
type serializer struct {
	echo.DefaultJSONSerializer
}

func (serializer) Deserialize(c echo.Context, value any) error {
	return decodeJSON(c.Request().Body, value)
}

func decodeJSON(body io.Reader, value any) error {
	decoder := json.NewDecoder(body)
	decoder.UseNumber()
	if err := decoder.Decode(value); err != nil {
		return err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return errors.New("something follows the value")
	}
	return nil
}
