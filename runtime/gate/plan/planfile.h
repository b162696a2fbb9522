/*
 * The gate's files in the plan: read once, at the start.
 *
 * The launcher has checked the plan's seal, or planfile_sealed() does; this
 * bounds what it reads and refuses anything but a regular file.
 */
#ifndef RUNTIME_GATE_PLAN_PLANFILE_H
#define RUNTIME_GATE_PLAN_PLANFILE_H

#include "compiler/base/addr.h"
#include "compiler/base/err.h"
#include "compiler/base/limits.h"

#define PLANFILE_PATH_MAX 512u

enum planfile_link {
	PLANFILE_VETH,
	PLANFILE_BRIDGE,
	PLANFILE_WIRE,	/* a Pod's */
	PLANFILE_APART, /* none: the agent is in another Pod */
};

/*
 * Where the files of folder dir really are: dir itself, or, where Kubernetes
 * mounts a ConfigMap or a Secret, the folder in it that its link "..data"
 * names, which holds them as they were at one moment. -EPROTO  the link leads
 * elsewhere
 */
must_check int planfile_folder(const char *dir, char out[PLANFILE_PATH_MAX],
			       struct err *err);
/*
 * The folder holds a plan whose manifest.json has that SHA-256 (lower-case
 * hexadecimal), and all that it seals is as it says: compiler/plan/plan.h. For
 * a gate that no launcher has handed a plan that it looked at.
 */
must_check int planfile_sealed(const char *dir, struct str sha256,
			       struct err *err);

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

#define PLANFILE_DOORS 2u /* one of each family */

/* What the gate reads of docker.json, or of native.json or kubernetes.json,
 * which say the same. */
struct planfile_vectors {
	enum planfile_link link;	 /* "link" */
	struct planfile_ports host;	 /* "host_ports" */
	struct planfile_ports published; /* of "published": the ports inside */
	/* of "addresses": where the agent finds the gate, by PLANFILE_APART */
	struct addr door[PLANFILE_DOORS];
	uint32_t n_door;
};

/* Ascending, and each once: several of a machine may lead to one. */
void planfile_ports_sort(struct planfile_ports *ports);
/* Without any of them: a veth, and no ports. */
must_check int planfile_vectors(const char *dir, struct planfile_vectors *out,
				struct err *err);

#endif
