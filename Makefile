# What people run here; `make` alone lists it. Everything that a target builds once is reused by the next run.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help test lint clean tools need-rust

# What the tests start. kubectl is built only where the machine has none.
TOOLS := etcd kube-apiserver kube-controller-manager helm argocd-crds
TOOLS += $(if $(shell command -v kubectl),,kubectl)

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

test: need-rust tools ## Run every test, on a real API server; AICR_KUBERNETES=floor takes the oldest supported one
	cargo test --workspace

lint: need-rust ## Check formatting, lints and the documentation's links
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet

clean: need-rust ## Remove what cargo built and the logs of failed tests; the built tools stay in the user's cache
	cargo clean

tools:
	@tests/tools/tool $(TOOLS) >/dev/null

need-rust:
	@command -v cargo >/dev/null || { echo "make: cargo is not on the PATH: install Rust 1.95 or newer from https://rustup.rs" >&2; exit 1; }
	@command -v cc >/dev/null || { echo "make: cc is not on the PATH and some crates need a C compiler: install gcc or clang (Debian: apt install gcc libc6-dev)" >&2; exit 1; }
