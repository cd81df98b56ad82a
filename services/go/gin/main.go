// The contracts of Tare on gin: its router, context and JSON, and net/http below it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/gin-gonic/gin/codec/json"
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
		fmt.Println(strings.TrimPrefix(gin.Version, "v"))
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

	handler, err := routes(s)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: handler}
	failed := make(chan error, 1)
	go func() { failed <- listenAndServe(server, s) }()

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

// listenAndServe answers over TLS in HTTP/1.1 or HTTP/2, as ALPN chooses.
func listenAndServe(server *http.Server, s settings) error {
	// ListenAndServe would take 0.0.0.0 for all addresses of IPv6 too.
	listener, err := net.Listen("tcp4", fmt.Sprintf("%s:%d", s.serveOn, s.port))
	if err != nil {
		return err
	}
	if s.certFile != "" {
		return server.ServeTLS(listener, s.certFile, s.keyFile)
	}
	return server.Serve(listener)
}

func routes(s settings) (http.Handler, error) {
	gin.SetMode(gin.ReleaseMode)
	// gin.Default without its logger.
	router := gin.New()
	router.Use(gin.Recovery())
	router.Match(get, "/", hello)
	router.Match(get, "/api/test", api)
	router.POST("/test", echo(s))
	router.Match(get, "/test/status", status)
	router.Match(get, "/test/labels/:label", label)
	router.Match(get, "/framework", framework)
	router.Match(get, "/benchmark", benchmark)
	router.POST("/upload", upload)
	router.UseH2C = s.h2c
	if err := addOptional(router, s); err != nil {
		return nil, err
	}
	return router.Handler(), nil
}

// addOptional adds the routes whose variables are set.
func addOptional(router *gin.Engine, s settings) error {
	if s.database != nil {
		db, err := newDatabase(s.database)
		if err != nil {
			return err
		}
		addWorlds(router, db)
		addFortunes(router, db)
		addCrud(router, db)
	}
	if s.products != nil {
		addProducts(router, s.products)
	}
	if s.static != "" {
		// Static makes a route of /static/ too, to which gin would redirect /static.
		router.RedirectTrailingSlash = false
		router.Static("/static", s.static)
	}
	if s.upstream != "" {
		router.Match(get, "/gateway/:id", gateway(s.upstream))
	}
	return nil
}

// echo answers the object it is sent with the member "text" added. With a delay, at most s.threads messages are
// in it at once.
func echo(s settings) gin.HandlerFunc {
	work := func() {}
	if s.delay > 0 {
		slots := make(chan struct{}, s.threads)
		work = func() {
			slots <- struct{}{}
			time.Sleep(s.delay)
			<-slots
		}
	}
	return func(c *gin.Context) {
		message, err := decodeObject(c.Request.Body)
		if err != nil {
			c.String(http.StatusBadRequest, "%v", err)
			return
		}
		work()
		message["text"] = "received"
		c.JSON(http.StatusOK, message)
	}
}

func hello(c *gin.Context) {
	c.String(http.StatusOK, "Hello world!")
}

func api(c *gin.Context) {
	c.String(http.StatusOK, "Hello, World!")
}

func status(c *gin.Context) {
	c.String(http.StatusOK, "OK")
}

func label(c *gin.Context) {
	c.String(http.StatusOK, c.Param("label"))
}

func framework(c *gin.Context) {
	c.JSON(http.StatusOK, gin.H{"Hello": "world"})
}

func benchmark(c *gin.Context) {
	count, err := parseCount(c)
	if err != nil {
		c.String(http.StatusBadRequest, "%v", err)
		return
	}
	texts := make([]string, count)
	for i := range texts {
		texts[i] = "Index " + strconv.Itoa(i)
	}
	c.JSON(http.StatusOK, texts[:min(10, count)])
}

func parseCount(c *gin.Context) (int, error) {
	text, ok := c.GetQuery("count")
	if !ok {
		return countDefault, nil
	}
	count, err := strconv.Atoi(text)
	if err != nil || count < 0 || count > countMax {
		return 0, fmt.Errorf("count must be an integer from 0 to %d", countMax)
	}
	return count, nil
}

// bounded reads an integer from 1 to high.
func bounded(name, text string, high int) (int, error) {
	value, err := strconv.Atoi(text)
	if err != nil || value < 1 || value > high {
		return 0, fmt.Errorf("%s must be an integer from 1 to %d", name, high)
	}
	return value, nil
}

// decodeObject reads one JSON object and nothing after it. Its numbers keep their digits.
func decodeObject(body io.Reader) (map[string]any, error) {
	var object map[string]any
	if err := decodeJSON(body, &object); err != nil {
		return nil, err
	}
	if object == nil {
		return nil, errors.New("null is no object")
	}
	return object, nil
}

// decodeJSON decodes with the codec that gin's own binding uses. The binding would let anything follow the value.
func decodeJSON(body io.Reader, value any) error {
	decoder := json.API.NewDecoder(body)
	decoder.UseNumber()
	if err := decoder.Decode(value); err != nil {
		return err
	}
	var more any
	if err := decoder.Decode(&more); err != io.EOF {
		return errors.New("something follows the value")
	}
	return nil
}
