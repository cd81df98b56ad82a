package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"
)

// settings are what the environment variables say.
type settings struct {
	port    int
	threads int
	delay   time.Duration
	// certFile and keyFile are empty where the port speaks no TLS.
	certFile string
	keyFile  string
}

func settingsFromEnv() (settings, error) {
	port, err := integer("PORT", "", 1, 65535)
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
	if protocol, ok := os.LookupEnv("PROTOCOL"); ok && protocol != "http/1.1" {
		return settings{}, errors.New("PROTOCOL must be http/1.1: fasthttp has no HTTP/2")
	}
	return settings{
		port:     port,
		threads:  threads,
		delay:    time.Duration(delay) * time.Millisecond,
		certFile: certFile,
		keyFile:  keyFile,
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
