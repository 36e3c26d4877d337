# What people run here; `make` alone lists it. Everything that a target builds once is reused by the next run.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help sandbox test lint generate size bench clean tools need-rust

# What the tests start. kubectl is built only where the machine has none.
KUBECTL := $(if $(shell command -v kubectl),,kubectl)
TOOLS := etcd kube-apiserver kube-controller-manager helm registry oras argocd-crds $(KUBECTL)

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

sandbox: need-rust ## Start a control plane with sample rollouts to try the plugin on; SANDBOX_ARGS=--once only checks it
	@tests/tools/tool etcd kube-apiserver helm $(KUBECTL) >/dev/null
	cargo build --package kubectl-aicr --package sandbox
	@cargo run --quiet --package sandbox -- $(SANDBOX_ARGS)

test: need-rust tools ## Run every test, on a real API server; AICR_KUBERNETES=floor takes the oldest supported one
	cargo test --workspace

lint: need-rust ## Check formatting, lints and the documentation's links
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet

generate: need-rust ## Write the CRDs, completions and man pages anew from the code
	AICR_BLESS=1 cargo test --test generated

# Where cargo puts the shipped binary, wherever its target folder is.
DIST = $(shell cargo metadata --no-deps --format-version 1 | sed -E 's/.*"target_directory":"([^"]*)".*/\1/')/dist/kubectl-aicr

size: need-rust ## Build the shipped binary (about 5 minutes) and print its size and the libraries it links
	cargo build --profile dist --package kubectl-aicr
	@bytes=$$(wc -c <"$(DIST)"); echo "$(DIST): $$bytes bytes, at most 12000000 are allowed"; ldd "$(DIST)"; \
	test "$$bytes" -le 12000000

bench: size tools ## Measure the shipped binary and the library against their bounds (docs/performance.md)
	AICR_BENCH_PLUGIN=$(DIST) cargo bench --bench plugin
	cargo bench --bench plan
	cargo bench --bench registry

clean: need-rust ## Remove what cargo built and the logs of failed tests; the built tools stay in the user's cache
	cargo clean

tools:
	@tests/tools/tool $(TOOLS) >/dev/null

need-rust:
	@command -v cargo >/dev/null || { echo "make: cargo is not on the PATH: install Rust 1.95 or newer from https://rustup.rs" >&2; exit 1; }
	@command -v cc >/dev/null || { echo "make: cc is not on the PATH and some crates need a C compiler: install gcc or clang (Debian: apt install gcc libc6-dev)" >&2; exit 1; }
