/*
 * libcrypto, loaded when certificates are read. What openssl's headers declare
 * and roots.c calls leads into it, once it is open; not before.
 */
#ifndef RUNTIME_LAUNCH_DOCKER_LIBCRYPTO_H
#define RUNTIME_LAUNCH_DOCKER_LIBCRYPTO_H

#include "compiler/base/err.h"

/* -ENOENT: it is not on this machine. Any number of times. */
must_check int libcrypto_open(struct err *err);

#endif
