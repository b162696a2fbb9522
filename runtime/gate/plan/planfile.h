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
/* docker.json's "link"; PLANFILE_VETH when there is no docker.json. */
must_check int planfile_link(const char *dir, enum planfile_link *out,
			     struct err *err);

/* Its "host_ports"; none when there is no docker.json. */
struct planfile_ports {
	uint16_t v[LIMIT_MACHINE_PORTS];
	uint32_t n;
};
must_check int planfile_host_ports(const char *dir, struct planfile_ports *out,
				   struct err *err);
/* Of its "published", the ports inside; likewise. */
must_check int planfile_published(const char *dir, struct planfile_ports *out,
				  struct err *err);

#endif
