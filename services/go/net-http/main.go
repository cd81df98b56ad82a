// The contracts of Tare on net/http, with the patterns of its own ServeMux.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	countDefault = 10_000
	countMax     = 1_000_000

	// grace is how long requests in flight may take to end after SIGTERM.
	grace = 250 * time.Millisecond
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == "--version" {
		fmt.Println(strings.TrimPrefix(runtime.Version(), "go"))
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
	if s.h2c {
		server.Protocols = new(http.Protocols)
		server.Protocols.SetUnencryptedHTTP2(true)
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
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", hello)
	mux.HandleFunc("GET /api/test", api)
	mux.HandleFunc("POST /test", echo(s))
	mux.HandleFunc("GET /test/status", status)
	mux.HandleFunc("GET /test/labels/{label}", label)
	mux.HandleFunc("GET /framework", framework)
	mux.HandleFunc("GET /benchmark", benchmark)
	mux.HandleFunc("POST /upload", upload)
	if err := addOptional(mux, s); err != nil {
		return nil, err
	}
	if s.static != "" {
		return withFiles(mux, s.static), nil
	}
	return mux, nil
}

// addOptional adds the routes whose variables are set.
func addOptional(mux *http.ServeMux, s settings) error {
	if s.database != nil {
		db, err := newDatabase(s.database)
		if err != nil {
			return err
		}
		addWorlds(mux, db)
		mux.HandleFunc("GET /fortunes", fortunes(db))
		addCrud(mux, db)
	}
	if s.products != nil {
		if err := addProducts(mux, s.products); err != nil {
			return err
		}
	}
	if s.upstream != "" {
		mux.HandleFunc("GET /gateway/{id}", gateway(s.upstream))
	}
	return nil
}

// withFiles serves the folder beside the mux, which would answer a path with ".." by a redirect. FileServer never leaves
// its folder.
func withFiles(mux http.Handler, folder string) http.Handler {
	files := http.StripPrefix("/static/", http.FileServer(http.Dir(folder)))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reads := r.Method == http.MethodGet || r.Method == http.MethodHead
		if reads && strings.HasPrefix(r.URL.Path, "/static/") {
			files.ServeHTTP(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// echo answers the object it is sent with the member "text" added. With a delay, at most s.threads messages are
// in it at once.
func echo(s settings) http.HandlerFunc {
	work := func() {}
	if s.delay > 0 {
		slots := make(chan struct{}, s.threads)
		work = func() {
			slots <- struct{}{}
			time.Sleep(s.delay)
			<-slots
		}
	}
	return func(w http.ResponseWriter, r *http.Request) {
		message, err := decodeObject(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		work()
		message["text"] = "received"
		writeJSON(w, message)
	}
}

func hello(w http.ResponseWriter, r *http.Request) {
	writeText(w, "Hello world!")
}

func api(w http.ResponseWriter, r *http.Request) {
	writeText(w, "Hello, World!")
}

func status(w http.ResponseWriter, r *http.Request) {
	writeText(w, "OK")
}

func label(w http.ResponseWriter, r *http.Request) {
	writeText(w, r.PathValue("label"))
}

func framework(w http.ResponseWriter, r *http.Request) {
	writeJSON(w, map[string]string{"Hello": "world"})
}

func benchmark(w http.ResponseWriter, r *http.Request) {
	count, err := parseCount(r.URL.RawQuery)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	texts := make([]string, count)
	for i := range texts {
		texts[i] = "Index " + strconv.Itoa(i)
	}
	writeJSON(w, texts[:min(10, count)])
}

func parseCount(rawQuery string) (int, error) {
	query, err := url.ParseQuery(rawQuery)
	if err != nil {
		return 0, err
	}
	if !query.Has("count") {
		return countDefault, nil
	}
	count, err := strconv.Atoi(query.Get("count"))
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

// writeText names the type because net/http would guess it from the first bytes: a label "BM-1" is a bitmap to it.
func writeText(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	io.WriteString(w, text)
}

func writeJSON(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(value)
}
