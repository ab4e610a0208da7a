# The daily loop. Every target first sees that the machine has what it needs (scripts/setup: a fraction of a second when it has).
JOBS ?= 2
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := build
.PHONY: setup build test test-long check docs format demo clean

setup:
	@scripts/setup

build: setup
	@cmake --preset release --log-level=WARNING
	@cmake --build --preset release -j $(JOBS)

test: build
	@ctest --preset release -j $(JOBS)

# The tests under the address, undefined-behaviour and thread sanitizers, and the large sweeps.
test-long: build
	@for preset in asan tsan; do \
	  cmake --preset $$preset --log-level=WARNING && cmake --build --preset $$preset -j $(JOBS) && ctest --preset $$preset -j $(JOBS) || exit 1; \
	done
	@ctest --preset long -j $(JOBS)

check: setup
	@scripts/check

docs: build
	@for page in cli run-file; do build/scantling docs $$page > build/$$page.md && mv build/$$page.md docs/$$page.md || exit 1; done

format: setup
	@scripts/checks/format --write

demo: build
	@scripts/demo

clean:
	rm -rf build build-dev build-asan build-tsan
