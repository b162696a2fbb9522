/*
 * One record of a trace, whoever wrote it: membrane-watch or Tracee 0.20 to
 * 0.24, which share a shape.
 *
 * Arguments are flat: each value that is text, number or boolean stands by
 * itself under its name, "pathname"; what lies in an object under both names,
 * "remote_addr.sin_addr"; items of a list several times under one. Everything
 * is borrowed from the reader, until it goes on.
 */
#ifndef COMPILER_TRACE_EVENT_H
#define COMPILER_TRACE_EVENT_H

#include "compiler/base/str.h"

#define TRACE_LEAVES_MAX 4096u

struct trace_leaf {
	struct str key, text; /* numbers and booleans as they are written */
	bool number;
};

struct trace_event {
	struct str line; /* as it was read, without its LF */
	uint64_t at_ns;	 /* since the epoch */
	int64_t pid, tid, ppid, host_pid, host_ppid, uid, ret;
	bool asked; /* nobody knows what came of it: ret says nothing */
	struct str name, comm, container, syscall;
	uint32_t n;
	struct trace_leaf leaf[TRACE_LEAVES_MAX];
};

/* The first value of that name; empty when there is none. */
struct str trace_arg(const struct trace_event *e, const char *key);
/* A number; otherwise when there is none. */
int64_t trace_number(const struct trace_event *e, const char *key,
		     int64_t otherwise);

/* How a process ended: with a code, or by a signal (0: none). */
struct trace_exit {
	int64_t code, signal;
};
struct trace_exit trace_exit(const struct trace_event *e);

/*
 * What an event is about, for people: the path, the address with its port, the
 * name that was asked for. Empty for those that are about themselves.
 */
struct trace_object {
	struct str path, addr, name;
	uint16_t port;
};
struct trace_object trace_object(const struct trace_event *e);
/* What a resolver answered; the question is an event of its own. */
bool trace_is_answer(const struct trace_event *e);

/* Is it of the trace itself, and no event? */
bool trace_is_own(const struct trace_event *e);

/* Kinds of events, as the story tells them and the statistics count them. */
enum trace_kind {
	TRACE_EXEC,
	TRACE_FORK,
	TRACE_EXIT,
	TRACE_FILE,
	TRACE_CONNECT,
	TRACE_LISTEN, /* bind, listen, accept */
	TRACE_SEND,   /* datagrams */
	TRACE_DNS,
	TRACE_ATTEMPT, /* mounts, namespaces, modules, ptrace, bpf, … */
	TRACE_ITSELF,  /* the trace's first and last line */
	TRACE_OTHER,
	TRACE_KINDS,
};
enum trace_kind trace_kind(const struct trace_event *e);
const char *trace_kind_name(enum trace_kind k); /* "exec" */
/* Names of events that have a kind; empty behind the last. */
struct str trace_known(size_t i);

#endif
