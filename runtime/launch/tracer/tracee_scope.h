/*
 * Whose a record of Tracee's is: the agent's container's, one's that was
 * started within it, or somebody else's.
 *
 * Pure. Tracee's policy lets in all containers that are new, and names each by
 * the innermost id in its cgroup's path. The agent's id comes from Docker. For
 * those within it, the name is not enough, since who makes a cgroup chooses it:
 * a record that a cgroup was made within one of ours gives its number as well.
 *
 * Either may come later than the first records of that container (the buffers
 * of several processors are not read in order), so one is unknown for a while
 * before it counts as somebody else's.
 */
#ifndef RUNTIME_LAUNCH_TRACER_TRACEE_SCOPE_H
#define RUNTIME_LAUNCH_TRACER_TRACEE_SCOPE_H

#include "compiler/base/str.h"

#define TRACEE_ID	  64	     /* hexadecimal digits */
#define TRACEE_NAME_MAX	  128	     /* of an event, with the NUL */
#define TRACEE_OURS_MAX	  (1u << 15) /* cgroups of one session */
#define TRACEE_OTHERS_MAX 256u	     /* that are told apart at a time */
#define TRACEE_UNKNOWN_MS 1500	     /* then it is somebody else's */

enum tracee_whose {
	TRACEE_OURS,
	TRACEE_UNKNOWN, /* yet: keep the record, and ask again */
	TRACEE_OTHERS,
	TRACEE_NOBODYS, /* it names no container */
	TRACEE_BROKEN,	/* not the whole of a record */
};

struct tracee_other {
	uint64_t key, id; /* hashed: with the cgroup's number, and alone */
	int64_t since_ms;
	uint64_t dropped; /* records for which there was no room to wait */
};

struct tracee_scope {
	char agent[TRACEE_ID];
	bool has_agent;
	bool is_full;	 /* more cgroups than TRACEE_OURS_MAX */
	uint64_t missed; /* records that were dropped, and then were ours */
	uint32_t n_ours, n_others, next_other;
	uint64_t ours[2 * TRACEE_OURS_MAX]; /* hashed; 0: free */
	struct tracee_other others[TRACEE_OTHERS_MAX];
};

struct tracee_record {
	enum tracee_whose whose;
	bool of_itself;		    /* of no process */
	char name[TRACEE_NAME_MAX]; /* of the event */
	struct tracee_other *other; /* of TRACEE_UNKNOWN */
};

/* id: the agent's container, as Docker names it. */
void tracee_scope_agent(struct tracee_scope *s, struct str id);
/*
 * One line of Tracee's output. A record of TRACEE_OURS that a cgroup was made
 * makes that cgroup ours.
 */
struct tracee_record tracee_scope_read(struct tracee_scope *s, struct str line,
				       int64_t now_ms);
/* The id in a cgroup's path, as Tracee finds it: the innermost; or empty. */
struct str tracee_scope_id(struct str cgroup_path);

#endif
