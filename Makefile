# Targets for people and for CI. Everything works with Go, gcc, git and make
# alone; peers (perf, llvm) are compared with where they are installed.

GO      ?= go
VERSION ?= 0.1.0-dev
LDFLAGS := -s -w -X github.com/spgo-tools/spgo/internal/cli.Version=$(VERSION)
COMMANDS := $(notdir $(wildcard cmd/*))
PLATFORMS := linux/amd64 linux/arm64 windows/amd64 windows/arm64 darwin/amd64 darwin/arm64
FUZZTIME ?= 30s

.PHONY: all build demo demo-c test test-long lint cross check bench gain fuzz clean

all: build

## build: static binaries in bin/
build:
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/ ./cmd/...

## demo: a program is sampled and built again with its profile; a Windows
## trace becomes a profile
demo: build
	@sh scripts/demo.sh

## demo-c: the same with clang and llvm-bolt
demo-c: build
	@sh scripts/demo-c.sh

## test: lint, builds for all platforms, and all tests; prints what was skipped
test: lint cross
	@sh scripts/test.sh

## test-long: the tests with long loops as well
test-long:
	SPGO_LONG=1 $(GO) test -timeout 80m ./...

## lint: formatting, vet and staticcheck
lint:
	@test -z "$$(gofmt -l cmd internal pkg scripts examples)" || { echo "not formatted:"; gofmt -l cmd internal pkg scripts examples; exit 1; }
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

## cross: the commands build for every platform
cross:
	@for p in $(PLATFORMS); do \
		echo "build $$p"; \
		CGO_ENABLED=0 GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) build -o /dev/null ./cmd/... || exit 1; \
	done

## bench: throughput and memory on large inputs, beside the installed peers;
## BENCH are its options, such as BENCH='-run spe -bytes 100000000'
bench: build
	@$(GO) run ./scripts/bench $(BENCH)

## gain: how much faster the examples get by their profiles
gain: build
	@sh scripts/gain.sh

## fuzz: every fuzz target for FUZZTIME (default 30s)
fuzz:
	@sh scripts/fuzz.sh $(FUZZTIME)

clean:
	rm -rf bin demo-out
