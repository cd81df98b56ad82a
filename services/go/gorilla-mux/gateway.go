package main

import (
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/gorilla/mux"
)

// idleMax is how many connections to the upstream are kept. Go's default keeps two, and closes all others after one
// request.
const idleMax = 1024

// gateway answers what the upstream knows of an item, with the member "via" added.
func gateway(upstream string) http.HandlerFunc {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConns = idleMax
	transport.MaxIdleConnsPerHost = idleMax
	client := &http.Client{Transport: transport}

	return func(w http.ResponseWriter, r *http.Request) {
		address := upstream + "/items/" + url.PathEscape(mux.Vars(r)["id"])
		request, err := http.NewRequestWithContext(r.Context(), http.MethodGet, address, nil)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		response, err := client.Do(request)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer response.Body.Close()
		if response.StatusCode == http.StatusNotFound {
			// A connection is kept only if its answer was read to the end.
			io.Copy(io.Discard, response.Body)
			http.NotFound(w, r)
			return
		}
		if response.StatusCode != http.StatusOK {
			http.Error(w, fmt.Sprintf("the upstream answered %d", response.StatusCode), http.StatusBadGateway)
			return
		}
		object, err := decodeObject(response.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		object["via"] = "gateway"
		writeJSON(w, object)
	}
}
