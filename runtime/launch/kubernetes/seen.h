/*
 * What a watch has told of one Pod, and of its events. Pure.
 *
 * Pod: https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/
 */
#ifndef RUNTIME_LAUNCH_KUBERNETES_SEEN_H
#define RUNTIME_LAUNCH_KUBERNETES_SEEN_H

#include "compiler/base/arena.h"
#include "compiler/base/json.h"

#define SEEN_TEXT_MAX	512u	   /* longer ones are cut */
#define SEEN_OBJECT_MAX (4u << 20) /* bytes of one that is watched */

enum seen_state {
	SEEN_NOTHING, /* nobody has said anything yet */
	SEEN_WAITS,
	SEEN_RUNS,
	SEEN_ENDED,
};

enum seen_part { SEEN_FENCE, SEEN_WORKSPACE, SEEN_GATE, SEEN_AGENT, SEEN_PARTS };

struct seen_container {
	enum seen_state state;
	int status;		  /* of ENDED */
	char reason[64];	  /* of WAITS and ENDED; or empty */
	char text[SEEN_TEXT_MAX]; /* the same, for people */
};

struct seen {
	bool known;    /* there was a Pod */
	bool placed;   /* on a node */
	bool deleting; /* somebody wants it gone, */
	bool gone;     /* and it is */
	bool failed;   /* the whole of it, as when a node has no room */
	char text[SEEN_TEXT_MAX]; /* why not placed, or failed; or empty */
	struct seen_container of[SEEN_PARTS];
};

/*
 * One line more of what a watch prints: the object whose last it is, which the
 * caller deletes; else NULL, and text has what there is of one so far.
 */
cJSON *seen_object(struct buf *text, struct str line);
/* One object of `get pod NAME --watch --output-watch-events --output json`. */
void seen_take(struct seen *s, const cJSON *event);
const char *seen_name(enum seen_part part);
/*
 * Why the agent will never begin: "agent: ErrImagePull: …". False: it may. What
 * the kubelet goes on trying counts, too: nobody waits for what a person has to
 * mend.
 */
bool seen_hopeless(const struct seen *s, char out[SEEN_TEXT_MAX]);
/* What is waited for, for people. */
const char *seen_waits_for(const struct seen *s);

/* The same of its events. */
enum seen_news {
	SEEN_USUAL,    /* or said by the Pod's own status */
	SEEN_TROUBLE,  /* out says what, and it may pass */
	SEEN_HOPELESS, /* it will not: a Secret that is not there */
};
enum seen_news seen_event(const cJSON *event, char out[SEEN_TEXT_MAX]);

#endif
