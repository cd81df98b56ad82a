// The contracts of Tare on fasthttp, which has no router: the handler tells paths apart itself.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/valyala/fasthttp"
)

const (
	countDefault = 10_000
	countMax     = 1_000_000

	// grace is how long requests in flight may take to end after SIGTERM.
	grace = 250 * time.Millisecond
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == "--version" {
		version, err := fasthttpVersion()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(version)
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

// fasthttpVersion is the version of fasthttp in this program, as the build recorded it.
func fasthttpVersion() (string, error) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "", errors.New("built without module information")
	}
	for _, module := range info.Deps {
		if module.Path == "github.com/valyala/fasthttp" {
			return strings.TrimPrefix(module.Version, "v"), nil
		}
	}
	return "", errors.New("built without fasthttp")
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
	server := &fasthttp.Server{
		Handler:           handler,
		StreamRequestBody: true,
		// FSHandler logs each file that it does not find.
		Logger: log.New(io.Discard, "", 0),
	}
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
	_ = server.ShutdownWithContext(deadline)
	return nil
}

func listenAndServe(server *fasthttp.Server, s settings) error {
	address := fmt.Sprintf("%s:%d", s.serveOn, s.port)
	if s.certFile != "" {
		return server.ListenAndServeTLS(address, s.certFile, s.keyFile)
	}
	return server.ListenAndServe(address)
}

func routes(s settings) (fasthttp.RequestHandler, error) {
	message := echo(s)
	optional, err := newOptional(s)
	if err != nil {
		return nil, err
	}
	return func(ctx *fasthttp.RequestCtx) {
		path := string(ctx.Path())
		if path == "/test" {
			post(ctx, message)
			return
		}
		if path == "/upload" {
			post(ctx, upload)
			return
		}
		if optional.crud != nil && strings.HasPrefix(path, crudPath) {
			optional.crud(ctx, path)
			return
		}
		if !ctx.IsGet() && !ctx.IsHead() {
			ctx.Error("Method Not Allowed", fasthttp.StatusMethodNotAllowed)
			return
		}
		switch path {
		case "/":
			ctx.WriteString("Hello world!")
		case "/api/test":
			ctx.WriteString("Hello, World!")
		case "/test/status":
			ctx.WriteString("OK")
		case "/framework":
			writeJSON(ctx, map[string]string{"Hello": "world"})
		case "/benchmark":
			benchmark(ctx)
		default:
			if label, ok := parameter(path, "/test/labels/"); ok {
				ctx.WriteString(label)
				return
			}
			optional.get(ctx, path)
		}
	}, nil
}

func post(ctx *fasthttp.RequestCtx, handler fasthttp.RequestHandler) {
	if !ctx.IsPost() {
		ctx.Error("Method Not Allowed", fasthttp.StatusMethodNotAllowed)
		return
	}
	handler(ctx)
}

// parameter is the one segment that follows the prefix.
func parameter(path, prefix string) (string, bool) {
	segment, ok := strings.CutPrefix(path, prefix)
	return segment, ok && segment != "" && !strings.Contains(segment, "/")
}

// echo answers the object it is sent with the member "text" added. With a delay, at most s.threads messages are
// in it at once.
func echo(s settings) fasthttp.RequestHandler {
	work := func() {}
	if s.delay > 0 {
		slots := make(chan struct{}, s.threads)
		work = func() {
			slots <- struct{}{}
			time.Sleep(s.delay)
			<-slots
		}
	}
	return func(ctx *fasthttp.RequestCtx) {
		object, err := decodeObject(ctx.PostBody())
		if err != nil {
			ctx.Error(err.Error(), fasthttp.StatusBadRequest)
			return
		}
		work()
		object["text"] = "received"
		writeJSON(ctx, object)
	}
}

func benchmark(ctx *fasthttp.RequestCtx) {
	count, err := parseCount(ctx.QueryArgs())
	if err != nil {
		ctx.Error(err.Error(), fasthttp.StatusBadRequest)
		return
	}
	texts := make([]string, count)
	for i := range texts {
		texts[i] = "Index " + strconv.Itoa(i)
	}
	writeJSON(ctx, texts[:min(10, count)])
}

func parseCount(query *fasthttp.Args) (int, error) {
	if !query.Has("count") {
		return countDefault, nil
	}
	count, err := query.GetUint("count")
	if err != nil || count > countMax {
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
func decodeObject(body []byte) (map[string]any, error) {
	var object map[string]any
	if err := decodeJSON(body, &object); err != nil {
		return nil, err
	}
	if object == nil {
		return nil, errors.New("null is no object")
	}
	return object, nil
}

func decodeJSON(body []byte, value any) error {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if err := decoder.Decode(value); err != nil {
		return err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return errors.New("something follows the value")
	}
	return nil
}

func writeJSON(ctx *fasthttp.RequestCtx, value any) {
	ctx.SetContentType("application/json")
	json.NewEncoder(ctx).Encode(value)
}
