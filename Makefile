# Everything starts here, on a fresh Debian 12 too: `make bench` for the table, `make test` before a commit.

SHELL       := /bin/bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS   += --no-print-directory

# Toolchains that scripts/setup.sh found or installed outside of PATH.
ENV := . scripts/env.sh;

# More words for `tare run`: make bench ARGS='--budget 10m --services hyper,express'
ARGS ?=

# The version that `make docs` installs into .tare/tools.
MDBOOK := 0.5.4

.PHONY: help setup build bench lint test test-all docs site dist dist-test fuzz services-update clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-15s %s\n", $$1, $$2 }' Makefile

setup: ## install missing toolchains and Debian packages (scripts/setup.sh --check only lists them)
	@scripts/setup.sh

# Without what services and tests need: that is hundreds of MB more, and more that can fail.
build: ## build the command `tare`, target/release/tare
	@scripts/setup.sh services tare
	scripts/command.sh

# The command builds and verifies the services itself; the page and the table go into the folder of
# the run, whose path is printed at the end.
# It needs the core alone, compiled in half the time of a release: what does not measure is not optimised. `make build` adds the parts:
# site, cluster (with agents and merge), audit, import, why.
bench: ## measure the frameworks: a table in a few minutes (ARGS='...' for `tare run`)
	@scripts/setup.sh bench
	scripts/command.sh quick --no-default-features
	@$(ENV) target/quick/tare trust
	$(ENV) target/quick/tare run quick $(ARGS)

lint: ## check format, tidy and clippy alone
	@scripts/setup.sh test
	$(ENV) cargo fmt --all --check
	$(ENV) cargo xtask tidy
	$(ENV) cargo clippy --workspace --all-targets --locked -- -D warnings

# Both end with the lines of cargo test, which CI reads. What this machine cannot build they skip by name, or fail for with
# TARE_TEST_ALL=1. dev/tests.toml says what `make test` leaves to `make test-all`.
test: ## run what must pass before a commit: lints, and all tests but long ones, in ten minutes
	@scripts/setup.sh test
	@scripts/test.sh

test-all: setup ## run all tests, with every toolchain: what CI runs, in an hour
	@scripts/test.sh --all

# mdBook is needed for nothing else, so it is neither set up nor tested with: `cargo xtask tidy` checks the pages without it.
docs: ## build the guide as a book, target/docs/index.html
	$(ENV) [[ "$$(mdbook --version 2>/dev/null)" == "mdbook v$(MDBOOK)" ]] || cargo install mdbook --version $(MDBOOK) --locked \
	    --no-default-features --features search --root .tare/tools
	$(ENV) mdbook build docs

# It opens from disk. ARGS='--url https://...' if it is for a server.
site: build ## write the stored runs of record/ as a static site, target/site/index.html
	$(ENV) target/release/tare site target/site record $(ARGS)

# A static binary if Rust's library for musl is here; it says which it built.
dist: ## package the command for tar, apt, pip and npm, in target/dist
	@scripts/setup.sh services tare
	@scripts/dist.sh

dist-test: ## install each package of target/dist in an empty place, and use it there
	@scripts/dist-test.sh --crates

fuzz: setup ## run every fuzz target for FUZZ_SECONDS (30)
	@scripts/fuzz.sh

services-update: setup ## list what is newer upstream than the services pin; writes services/releases.toml
	$(ENV) cargo xtask services-update

# .tare/runs/ stays: a run is a result, and no build brings it back.
clean: ## remove what was built or installed here, but not the runs (of cached builds: tare cache --prune)
	rm -rf target
	find .tare -mindepth 1 -maxdepth 1 ! -name runs -exec rm -rf {} +
