/*
 * What `membrane doctor` asked this host, and what its answers come to.
 *
 * Asking is doctor.c's; here nothing is asked any more.
 */
#ifndef COMPILER_CLI_DOCTOR_DOCTOR_JUDGE_H
#define COMPILER_CLI_DOCTOR_DOCTOR_JUDGE_H

#include "compiler/cli/doctor/doctor.h"
#include "runtime/launch/docker/docker_info.h"
#include "runtime/launch/docker/endpoint.h"
#include "runtime/launch/facts.h"
#include "runtime/launch/native/try.h"
#include "runtime/launch/probe.h"

/* Of either engine's; with the milliseconds, a long long. */
#define DOCTOR_GATE_TRIED                                                      \
	"tried: its rules are loaded and HAProxy answers after %lld ms"

struct doctor_image {
	enum fact there;
	const char *why; /* of FACT_UNKNOWN */
};

/* A program that a session of the native engine starts. */
struct doctor_program {
	const char *line; /* what it says of itself; NULL: it does not run */
	const char *why;
};

struct doctor_host {
	enum ir_engine engine; /* what the policy here says */
	bool viewless;	       /* likewise: as in struct doctor */
	const char *client;    /* a line of its own; NULL: it does not run */
	const char *no_client; /* why */
	struct endpoint at;
	const char *no_daemon; /* why it does not answer; NULL: it does */
	/* Asked of a daemon that answers. */
	struct docker_info info;
	docker_tags tracee;
	const char *no_tracee; /* why they are not known, or NULL */
	struct doctor_image gate, agent, watch, view;
	/* Without its image a part is not tried: probe.h. */
	struct probe_session tried;
	/* Tried as who calls, before any Docker's namespaces are entered. */
	struct try_report steps;
	struct doctor_program programs, haproxy, uplink;
	const char *no_group; /* why no control group can be made; or NULL */
	struct probe_gate native; /* after these */
	const char *ssh;    /* SSH_AUTH_SOCK; NULL: not set */
	const char *no_ssh; /* why nobody answers there; NULL: somebody does */
	uint32_t ssh_keys;  /* that it lists */
	bool entered; /* from here on: in a rootless Docker's namespaces */
	/* Of the kernel that this program runs on. */
	struct facts facts;
	const char *state; /* the folder where sessions are kept */
	struct facts_mount mount;
};

/* What mends a step that failed so on this host. */
const char *doctor_step_remedy(const struct try_host *h, enum try_step step,
			       int code);
/* What is found of the native engine's steps: of doctor_judge(). */
void doctor_judge_native(struct arena *a, const struct doctor_host *host,
			 struct doctor *out);
/* A finding for each check. Texts of *host are borrowed. */
void doctor_judge(struct arena *a, const struct doctor_host *host,
		  struct doctor *out);

#endif
