/*
 * How dangerous one docker option is, with one value.
 *
 * Pure text: nothing is looked up on the host. A value comes expanded, as far
 * as its variables are known; the places that matter come as paths, which
 * stand for themselves where the environment is not known: $HOME as
 * ARGS_HOME, and so on, any other variable as ARGS_UNKNOWN.
 */
#ifndef COMPILER_PASSES_ARGS_ARGS_JUDGE_H
#define COMPILER_PASSES_ARGS_ARGS_JUDGE_H

#include "compiler/ir/docker_run.h"
#include "compiler/passes/args/args.h"

/* Control bytes, which a value cannot hold otherwise. */
#define ARGS_UNKNOWN "\001"
#define ARGS_HOME    "\002"
#define ARGS_PWD     "\003"
#define ARGS_STATE   "\004"

struct args_places {
	struct str home, workspace, state;
	args_resolved resolve; /* or NULL */
};

struct args_option {
	enum arg_home home;
	enum args_judge {
		ARGS_JUDGE_HARMLESS,
		ARGS_JUDGE_WIDENING,
		ARGS_JUDGE_UNDOING,
		ARGS_JUDGE_OURS,
		ARGS_JUDGE_host_or_private,
		ARGS_JUDGE_own_lookups,
		ARGS_JUDGE_env,
		ARGS_JUDGE_env_file,
		ARGS_JUDGE_ipc,
		ARGS_JUDGE_label,
		ARGS_JUDGE_mount,
		ARGS_JUDGE_publish,
		ARGS_JUDGE_read_only,
		ARGS_JUDGE_security_opt,
		ARGS_JUDGE_sysctl,
		ARGS_JUDGE_tmpfs,
		ARGS_JUDGE_user,
		ARGS_JUDGE_volume,
	} judge;
	const char *why;
};

const struct args_option *args_option(enum docker_run_id id);

struct args_verdict {
	enum arg_class class;
	const char *why;  /* as in docker_options.def */
	const char *help; /* what to write instead, or NULL */
	/* Not 0: docker would refuse the value; why says what is wrong. */
	enum diag_id fault;
	/* Not NULL: the value is taken, but does less than one would think. */
	const char *warning;
};

struct args_verdict args_judge(struct arena *a, const struct args_option *o,
			       struct str value,
			       const struct args_places *places);

#endif
