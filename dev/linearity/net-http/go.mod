module tare/weighted-net-http

go 1.24
