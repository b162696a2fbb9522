/*
 * What goes between the launcher and membrane-watch, the built-in tracer.
 *
 * To it: one JSON line about whose processes it is to follow, then the answers
 * that the gate's resolver gave. From its stdout: frames for the trace's files
 * (runtime/watch/pack.h). From its stderr: JSON lines about itself.
 *
 * Knows no process, and no pipe but the one it is lent: see tracer.c.
 */
#ifndef RUNTIME_LAUNCH_TRACER_WATCH_H
#define RUNTIME_LAUNCH_TRACER_WATCH_H

#include "compiler/base/arena.h"
#include "compiler/base/err.h"
#include "compiler/plan/hello.h"

#include <cjson/cJSON.h>

#define WATCH_FRAME_MAX (1u << 20)
#define WATCH_SAY_MAX	(64u << 10) /* bytes on their way to it */

enum watch_stage {
	WATCH_STARTING, /* programs are being loaded */
	WATCH_LOADED,
	WATCH_READY, /* every process of the agent will be seen */
	WATCH_ENDED, /* after its last record */
};

/* Whose something was (runtime/watch/whose.h); texts are as they came. */
struct watch_whose {
	uint32_t id;
	enum hello_sure sure;
	uint32_t pid;
	struct str comm, command;
};
typedef void watch_on_whose(void *ctx, const struct watch_whose *x);

typedef int watch_write(void *ctx, struct str member, struct err *err);

struct watch {
	enum watch_stage stage;
	bool has_found; /* a process of the agent */
	/* Once it has loaded: "fexit", "followed" (how far an io_uring is),
	 * "cap_capable" (events of a set that the kernel does not give, with
	 * commas) */
	char back_end[16], io_uring[16], missing[2048];
	uint64_t lost;	 /* events that no file has, as it says */
	uint64_t unsaid; /* answers that it could not be told of */
	size_t say_n;
	char say[WATCH_SAY_MAX];
	size_t missing_end;   /* in say, of the line that tells of such */
	uint64_t missing_are; /* as that line says; 0: none is under way */
	unsigned char head[4];
	size_t head_n, frame_n, frame_bytes;
	bool was_last; /* a frame of no bytes: none follows */
	char *frame;   /* room for WATCH_FRAME_MAX, in the arena */
	watch_on_whose *on_whose; /* or NULL */
	void *whose_ctx;
};

/* *w is zeroed by the caller. */
void watch_init(struct watch *w, struct arena *a);
/*
 * Whose processes: inodes of namespaces, and agent, the host name of a
 * container whose network namespace is not known before, or NULL. own: where
 * they have the workspace besides /workspace, or NULL.
 *   -EPIPE  nobody is there to read it
 */
must_check int watch_hello(int fd, uint32_t netns, uint32_t pidns,
			   const char *agent, const char *own, struct err *err);
/*
 * A line with its LF about what the agent was answered. What has no room is
 * left out, and counted: it is told how many those were.
 */
void watch_answer(struct watch *w, struct str line, int fd);
/*
 * Ask whose something was that a decision is about; false: it has nothing to ask
 * by, or there is no room.
 */
must_check bool watch_ask(struct watch *w, uint32_t id, const cJSON *decision,
			  int fd);
/* As much of that as the pipe takes; fd below 0: nothing. */
void watch_send(struct watch *w, int fd);
/* Once more; what it has not taken now counts as unsaid. */
void watch_hush(struct watch *w, int fd);
/* All of its output has come, up to the last frame. */
bool watch_is_whole(const struct watch *w);
/*
 * Bytes of its stdout: each whole frame is handed to write, whose errors are
 * returned.
 *   -EPROTO  a frame longer than WATCH_FRAME_MAX, or behind the last one,
 *            which is empty
 */
must_check int watch_output(struct watch *w, struct str got, watch_write *write,
			    void *ctx, struct err *err);
/*
 * A line of its stderr. One that is no JSON is docker's, and kept in *why if
 * that is empty, for when the tracer ends.
 *   -EIO  it has failed, and this is what it says
 */
must_check int watch_said(struct watch *w, struct str line, struct err *why,
			  struct err *err);

#endif
