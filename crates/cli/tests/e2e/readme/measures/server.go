// Answers in the protocol that its environment names.
package main

import (
	"net/http"
	"os"
)

func main() {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(os.Getenv("PROTOCOL") == "h2")
	protocols.SetUnencryptedHTTP2(os.Getenv("PROTOCOL") == "h2c")
	http.HandleFunc("/", func(answer http.ResponseWriter, request *http.Request) {
		answer.Write([]byte("Hello world!"))
	})
	server := &http.Server{Addr: "127.0.0.1:" + os.Getenv("PORT"), Protocols: &protocols}
	if os.Getenv("PROTOCOL") == "h2c" {
		server.ListenAndServe()
	} else {
		server.ListenAndServeTLS("cert.pem", "key.pem")
	}
}
