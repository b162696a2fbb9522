/*
 * What the files of this room share.
 */
#ifndef RUNTIME_LAUNCH_POD_PARTS_H
#define RUNTIME_LAUNCH_POD_PARTS_H

#include "runtime/launch/kubernetes/seen.h"
#include "runtime/launch/kubernetes/stream.h"
#include "runtime/launch/loop/loop.h"
#include "runtime/launch/pod/pod.h"

#define POD_START_MS  300000 /* until the command runs: images are pulled */
#define POD_OUTPUT_MS 10000  /* for the rest of its output, once it has ended */
#define POD_AGAIN_MS  2000   /* between two tries of a kubectl that ends soon */
#define POD_LASTED_MS 5000   /* one that went on for so long did not */
#define POD_VAIN_MS   60000  /* of tries that end soon, before it is given up */
#define POD_END_MS    30000  /* a Pod, behind its grace, until it is gone */

/* In this order, and never back. */
enum pod_state {
	POD_STARTING, /* it was applied */
	POD_RUNS,     /* the command does, or has */
	POD_OUTPUT,   /* it has ended: the rest of what it and its gate printed */
	POD_ENDING,   /* it is deleted */
	POD_GONE,
};

/* A kubectl that goes on, and ends: a server was restarted, or a line cut. */
struct pod_again {
	int64_t begun_ms; /* clock_ms(): of the last try; 0: none was made */
	int64_t vain_ms;  /* of the first of those that ended soon; 0: none */
	int64_t next_ms;  /* then it is tried once more; 0: it goes on */
};

struct pod {
	struct arena *a;
	const struct launch_opts *o;
	const struct pod_target *t;
	struct session session;
	struct watchdog watchdog;
	struct objects objects;
	struct pod_wish wish;
	struct loop run; /* as far as a record is made of it: outcome.h */

	enum pod_state state;
	int64_t deadline; /* clock_ms(): of that state; 0: none */
	int64_t progress_ms; /* then a person is told; 0: never */
	struct seen seen;
	struct stream watch, events, log;
	struct buf object;    /* of the watch, as far as it was told */
	struct buf event;     /* the same of the events */
	struct pod_again watch_again, log_again, output_again;
	uint64_t log_lines, log_skip; /* read; to be read once more */
	char told[SEEN_TEXT_MAX];     /* the last trouble that was */
	char hopeless[SEEN_TEXT_MAX]; /* of an event; or empty */
	pid_t output, input; /* kubectl with the command's streams; 0: none */
	int output_status;
	int complaint;	 /* what it said of itself; -1: nothing */
	size_t printed;	  /* bytes, before a terminal was attached */
	int64_t signal_ms; /* of the last signal */
	uint32_t grace_s;
	bool is_left; /* something of it could not be deleted */
};

/* --- pod_loop.c: until all of it is gone ------------------------------------
 */

/* The exit status, or a negative errno. */
must_check int pod_loop(struct pod *p, struct err *err);
/* The first reason counts. */
void pod_fail(struct pod *p, const struct err *why);

/* --- pod_again.c: how long it is tried ---------------------------------------
 */

enum pod_next { POD_NEXT_WAIT, POD_NEXT_TRY, POD_NEXT_FAIL };

/* It has not begun, or has ended. TRY: it is begun now. */
enum pod_next pod_again(struct pod_again *g);

/* --- pod_watch.c: what kubectl tells of the Pod and its gate ---------------- */

void pod_watch_init(struct pod *p);
/* Those that should run do; a watch that ended is begun once more. */
void pod_watch_tend(struct pod *p);
size_t pod_watch_fds(const struct pod *p, struct pollfd *out);
void pod_watch_pump(struct pod *p);
bool pod_watch_ended(struct pod *p, pid_t pid, int status);
/* What the gate decided is read, or being read: it may go. A log that was cut
 * is followed anew before. */
bool pod_watch_has_log(const struct pod *p);
void pod_watch_done(struct pod *p);
#define POD_WATCH_FDS (3 * STREAM_FDS)

/* --- pod_trouble.c: what is in the way -------------------------------------- */

/* What an event says that may pass: on stderr, once. */
void pod_trouble_tell(struct pod *p, const char *text);
/* True: it is hopeless, and said so. */
bool pod_trouble_find(struct pod *p);
/* The command never began, though its container was made: what a shell would
 * say of that, and its status. False: it has begun. */
bool pod_trouble_begin(const struct pod *p, int *out_status);

/* --- pod_streams.c: the command's ------------------------------------------- */

void pod_streams_wish(struct pod_wish *wish);
/* The command runs, or has ended before that was seen. */
void pod_streams_begin(struct pod *p);
bool pod_streams_ended(struct pod *p, pid_t pid, int status);
/* What ended too early is followed once more, when it is time. */
void pod_streams_tend(struct pod *p);
bool pod_streams_are_over(const struct pod *p);
void pod_streams_done(struct pod *p);

#endif
