// The service net-http under the contract hello, computing for a known time in each answer.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
)

func main() {
	weight := time.Duration(0)
	if len(os.Args) > 1 {
		nanoseconds, _ := strconv.Atoi(os.Args[1])
		weight = time.Duration(nanoseconds)
	}
	runtime.GOMAXPROCS(1)

	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		spin(weight)
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		fmt.Fprint(w, "Hello world!")
	})
	server := &http.Server{Addr: "127.0.0.1:" + os.Getenv("PORT"), Handler: mux}
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM)
	go func() {
		fmt.Fprintln(os.Stderr, server.ListenAndServe())
	}()
	<-terminated
	deadline, cancel := context.WithTimeout(context.Background(), 250*time.Millisecond)
	defer cancel()
	_ = server.Shutdown(deadline)
	fmt.Fprintf(os.Stderr, "%d ns were added to each request\n", spent.Load()/max(requests.Load(), 1))
}

// spent is what the weights really took: the machine may take the CPU away within one.
var spent, requests atomic.Int64

// spin computes for this long, by the clock: a loop that was calibrated at rest takes longer where its core's other half is
// busy. All services of the experiment read the clock as often for a weight of nothing.
func spin(weight time.Duration) {
	began := time.Now()
	passed := time.Since(began)
	for passed < weight {
		passed = time.Since(began)
	}
	spent.Add(int64(passed))
	requests.Add(1)
}
