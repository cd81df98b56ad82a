package main

import (
	"fmt"
	"os"
	"strconv"
	"time"
)

// settings are what the environment variables PORT, THREADS and DELAY_MS say.
type settings struct {
	port    int
	threads int
	delay   time.Duration
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
	return settings{port, threads, time.Duration(delay) * time.Millisecond}, nil
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
