// A server that costs some percent more with PLANT=loop, allocate, json, regex, lock, call or log, TIMES times in each request.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"sync"
)

type item struct {
	ID   int      `json:"id"`
	Tags []string `json:"tags"`
}

var (
	route    = regexp.MustCompile("^/items/([0-9]+)$")
	null, _  = os.OpenFile("/dev/null", os.O_WRONLY, 0)
	lines    = log.New(null, "", log.LstdFlags)
	mutex    sync.Mutex
	count    int
	sink     uint32
	kept     [][]byte
	times, _ = strconv.Atoi(os.Getenv("TIMES"))
)

//go:noinline
func plantedLoop(path string) {
	sum := uint32(2166136261)
	for i := 0; i < times; i++ {
		sum = (sum ^ uint32(path[i%len(path)])) * 16777619
	}
	sink = sum
}

//go:noinline
func plantedAllocate() {
	kept = nil
	for i := 0; i < times; i++ {
		kept = append(kept, make([]byte, 256))
	}
}

//go:noinline
func plantedJSON(one item) {
	for i := 0; i < times; i++ {
		json.Marshal(one)
	}
}

//go:noinline
func plantedRegex(path string) {
	for i := 0; i < times; i++ {
		route.MatchString(path)
	}
}

//go:noinline
func plantedLock() {
	for i := 0; i < times; i++ {
		mutex.Lock()
		count++
		mutex.Unlock()
	}
}

//go:noinline
func plantedCall() {
	for i := 0; i < times; i++ {
		os.Stat("/etc/hostname")
	}
}

//go:noinline
func plantedLog(path string) {
	for i := 0; i < times; i++ {
		lines.Printf("%d %s", i, path)
	}
}

func main() {
	one := item{ID: 1}
	for i := 0; i < 20; i++ {
		one.Tags = append(one.Tags, fmt.Sprint("tag ", i))
	}
	plant := os.Getenv("PLANT")
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		switch plant {
		case "loop":
			plantedLoop(r.URL.Path)
		case "allocate":
			plantedAllocate()
		case "json":
			plantedJSON(one)
		case "regex":
			plantedRegex(r.URL.Path)
		case "lock":
			plantedLock()
		case "call":
			plantedCall()
		case "log":
			plantedLog(r.URL.Path)
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(one)
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}
