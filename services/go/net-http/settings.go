package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// settings are what the environment variables say.
type settings struct {
	port    int
	serveOn netip.Addr
	threads int
	delay   time.Duration
	// certFile and keyFile are empty where the port speaks no TLS.
	certFile string
	keyFile  string
	// h2c is HTTP/2 without TLS.
	h2c bool
	// What follows is nil or empty where its variable is not set: then its routes do not exist.
	database *pgxpool.Config
	products []product
	static   string
	upstream string
}

func settingsFromEnv() (settings, error) {
	port, err := integer("PORT", "", 1, 65535)
	if err != nil {
		return settings{}, err
	}
	serveOn, err := serveOnFromEnv()
	if err != nil {
		return settings{}, err
	}
	threads, err := integer("THREADS", "1", 1, 1024)
	if err != nil {
		return settings{}, err
	}
	delay, err := integer("DELAY_MS", "0", 0, 60000)
	if err != nil {
		return settings{}, err
	}
	certFile, keyFile, err := keyPair()
	if err != nil {
		return settings{}, err
	}
	h2c, err := isH2C(certFile != "")
	if err != nil {
		return settings{}, err
	}
	database, err := databaseConfig()
	if err != nil {
		return settings{}, err
	}
	products, err := productsFromEnv()
	if err != nil {
		return settings{}, err
	}
	static, err := staticFolder()
	if err != nil {
		return settings{}, err
	}
	upstream, err := upstreamURL()
	if err != nil {
		return settings{}, err
	}
	return settings{
		port:     port,
		serveOn:  serveOn,
		threads:  threads,
		delay:    time.Duration(delay) * time.Millisecond,
		certFile: certFile,
		keyFile:  keyFile,
		h2c:      h2c,
		database: database,
		products: products,
		static:   static,
		upstream: upstream,
	}, nil
}

func integer(name, fallback string, low, high int) (int, error) {
	text, ok := os.LookupEnv(name)
	if !ok {
		text = fallback
	}
	value, err := strconv.Atoi(text)
	if err != nil || value < low || value > high {
		return 0, fmt.Errorf("%s must be an integer from %d to %d", name, low, high)
	}
	return value, nil
}

// serveOnFromEnv is this machine only where SERVE_ON is not set or empty.
func serveOnFromEnv() (netip.Addr, error) {
	text := os.Getenv("SERVE_ON")
	if text == "" {
		text = "127.0.0.1"
	}
	address, err := netip.ParseAddr(text)
	if err != nil || !address.Is4() {
		return netip.Addr{}, fmt.Errorf("SERVE_ON must be an IPv4 address, such as 0.0.0.0, not %q", text)
	}
	return address, nil
}

// keyPair names the files of TLS_CERT and TLS_KEY; both names are empty where the port speaks no TLS.
func keyPair() (certFile, keyFile string, err error) {
	certFile, withCert := os.LookupEnv("TLS_CERT")
	keyFile, withKey := os.LookupEnv("TLS_KEY")
	if withCert != withKey {
		return "", "", errors.New("TLS_CERT and TLS_KEY must be set together")
	}
	if withCert {
		if _, err := tls.LoadX509KeyPair(certFile, keyFile); err != nil {
			return "", "", fmt.Errorf("TLS_CERT and TLS_KEY cannot be used: %w", err)
		}
	}
	return certFile, keyFile, nil
}

// isH2C says whether the port is asked in HTTP/2 without TLS. Over TLS the client chooses by ALPN.
func isH2C(withTLS bool) (bool, error) {
	protocol, ok := os.LookupEnv("PROTOCOL")
	if !ok {
		protocol = "http/1.1"
	}
	switch {
	case protocol == "http/1.1", protocol == "h2" && withTLS:
		return false, nil
	case protocol == "h2c" && !withTLS:
		return true, nil
	case protocol == "h2":
		return false, errors.New("PROTOCOL h2 needs TLS_CERT and TLS_KEY")
	case protocol == "h2c":
		return false, errors.New("PROTOCOL h2c is without TLS_CERT and TLS_KEY")
	}
	return false, errors.New("PROTOCOL must be http/1.1, h2 or h2c")
}

// databaseConfig is what pgx reads in DATABASE_URL, with as many connections as DATABASE_MAX_CONN says.
func databaseConfig() (*pgxpool.Config, error) {
	connections, err := integer("DATABASE_MAX_CONN", "8", 1, 10000)
	if err != nil {
		return nil, err
	}
	address, ok := os.LookupEnv("DATABASE_URL")
	if !ok {
		return nil, nil
	}
	// pgx reads other forms too, and takes what is missing from its own variables.
	if !strings.HasPrefix(address, "postgres://") {
		return nil, errors.New("DATABASE_URL must begin with postgres://")
	}
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, fmt.Errorf("DATABASE_URL cannot be used: %w", err)
	}
	config.MaxConns = int32(connections)
	return config, nil
}

// productsFromEnv reads the file that DATA_PRODUCTS names.
func productsFromEnv() ([]product, error) {
	file, ok := os.LookupEnv("DATA_PRODUCTS")
	if !ok {
		return nil, nil
	}
	products, err := readProducts(file)
	if err != nil {
		return nil, fmt.Errorf("DATA_PRODUCTS cannot be used: %w", err)
	}
	if len(products) == 0 {
		return nil, errors.New("DATA_PRODUCTS has no products")
	}
	return products, nil
}

func staticFolder() (string, error) {
	folder, ok := os.LookupEnv("FOLDER_STATIC")
	if !ok {
		return "", nil
	}
	if about, err := os.Stat(folder); err != nil || !about.IsDir() {
		return "", errors.New("FOLDER_STATIC must be a folder")
	}
	return folder, nil
}

// upstreamURL is UPSTREAM_URL without a slash at its end.
func upstreamURL() (string, error) {
	address, ok := os.LookupEnv("UPSTREAM_URL")
	if !ok {
		return "", nil
	}
	parsed, err := url.Parse(address)
	if err != nil || parsed.Scheme != "http" || parsed.Host == "" {
		return "", errors.New("UPSTREAM_URL must be a URL with http")
	}
	return strings.TrimSuffix(address, "/"), nil
}
