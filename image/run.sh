#!/bin/bash
# make run: from a fresh checkout to a command in the sandbox.
source "$(dirname "$0")/lib.sh"

image/setup.sh build run docker
say "building (log: build/log/make)"
quietly build/log/make make -j"$(nproc)" all
image/images.sh agent gate watch view
# The demonstration's internet: namespaces, and servers in Python.
if ! may_root; then
	say "ready: build/bin/membrane (the demonstration, tests/live/demo.sh, is for root)"
	exit 0
fi
image/setup.sh test
tests/live/demo.sh
