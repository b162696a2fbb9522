/*
 * The gate's files in the plan: read once, at the start.
 *
 * The launcher has checked the plan's seal; this bounds what it reads and
 * refuses anything but a regular file.
 */
#ifndef RUNTIME_GATE_PLAN_PLANFILE_H
#define RUNTIME_GATE_PLAN_PLANFILE_H

#include "compiler/base/err.h"
#include "compiler/base/limits.h"

enum planfile_link {
	PLANFILE_VETH,
	PLANFILE_BRIDGE,
};

/*
 * The whole file, with a NUL behind it that does not count; the caller's, to
 * be released with planfile_free(). -EINVAL for a NUL inside it.
 */
must_check int planfile_read(const char *dir, const char *name, struct str *out,
			     struct err *err);
void planfile_free(struct str text);

struct planfile_ports {
	uint16_t v[LIMIT_MACHINE_PORTS];
	uint32_t n;
};

/* What the gate reads of docker.json, or of native.json, which says the same. */
struct planfile_vectors {
	enum planfile_link link;	 /* "link" */
	struct planfile_ports host;	 /* "host_ports" */
	struct planfile_ports published; /* of "published": the ports inside */
};

/* Without either file: a veth, and no ports. */
must_check int planfile_vectors(const char *dir, struct planfile_vectors *out,
				struct err *err);

#endif
