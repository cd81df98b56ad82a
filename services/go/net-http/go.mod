module tare/net-http

go 1.24
