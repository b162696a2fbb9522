/*
 * Roots beside the system's, 'upstream_ca' of the policy: a file of this
 * machine that is read once, when a session begins. What the gate, the agent
 * and renewals of tokens get of it is what OpenSSL made of it: certificates of
 * authorities in PEM, and nothing else that the file may have held.
 */
#ifndef RUNTIME_LAUNCH_DOCKER_ROOTS_H
#define RUNTIME_LAUNCH_DOCKER_ROOTS_H

#include "compiler/base/arena.h"
#include "compiler/base/err.h"
#include "compiler/base/sha256.h"

#define ROOTS_FILE_MAX (1u << 20) /* bytes */

struct roots {
	const char *path; /* as the policy has it; NULL: none are asked for */
	uint32_t n;
	struct str pem;
	char digest[SHA256_HEX_MAX]; /* of pem */
};

/* What is in a file's text. -EINVAL: the line, and what is wrong with it. */
must_check int roots_parse(struct arena *a, struct str text, struct roots *out,
			   struct err *err);
/* path: "/…" or "~/…", of this home, which may be NULL. */
must_check int roots_read(struct arena *a, const char *path, const char *home,
			  struct roots *out, struct err *err);
/* DOCKER_JSON_UPSTREAM_CA_FILE of a session's folder. */
must_check int roots_place(const struct roots *r, const char *dir,
			   struct err *err);

#endif
