#!/bin/bash
# make run: from a fresh checkout to a command in the sandbox.
source "$(dirname "$0")/lib.sh"

image/setup.sh build native
say "building (log: build/log/make)"
quietly build/log/make make -j"$(nproc)" all
# Where Docker is, the images, too: agents have theirs, and other policies name
# some. Where it is not, 'make images' installs it.
if docker version >/dev/null 2>&1; then
	image/setup.sh run
	image/images.sh agent gate watch view
fi
# The demonstration's internet: namespaces, and servers in Python.
if ! may_root; then
	say "ready: build/bin/membrane (the demonstration, tests/live/demo.sh, is for root)"
	exit 0
fi
image/setup.sh demo
tests/live/demo.sh
