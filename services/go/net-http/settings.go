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
	// h2c is HTTP/2 without TLS.
	h2c bool
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
	h2c, err := isH2C(certFile != "")
	if err != nil {
		return settings{}, err
	}
	return settings{
		port:     port,
		threads:  threads,
		delay:    time.Duration(delay) * time.Millisecond,
		certFile: certFile,
		keyFile:  keyFile,
		h2c:      h2c,
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
