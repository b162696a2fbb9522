/*
 * What the files of this folder share: the model of a plan view, and the parts
 * that read it.
 */
#ifndef COMPILER_CLI_PLAN_PARTS_H
#define COMPILER_CLI_PLAN_PARTS_H

#include "compiler/base/json.h"
#include "compiler/base/sha256.h"
#include "compiler/cli/review/changes.h"
#include "compiler/cli/review/derived.h"
#include "compiler/cli/text/view.h"
#include "compiler/cli/trust/trust_linked.h"
#include "compiler/cli/workspace/found.h"
#include "compiler/cli/workspace/inputs.h"
#include "compiler/driver.h"
#include "compiler/emit/kubernetes/kube.h"
#include "compiler/emit/native/native.h"
#include "compiler/ir/ir.h"
#include "compiler/plan/plan.h"

/* --- risks.c -------------------------------------------------------------- */

struct risk {
	const char *id;	       /* stable: "shared-address" */
	struct str text;       /* one sentence; cleaned */
	struct ir_origin from; /* the first line that it comes from, or none */
};
typedef VEC(struct risk) risk_list;

/* p is IR_NORMALISED. */
void risks_find(struct arena *a, const struct ir_policy *p, risk_list *out);
/* Not all of the workspace was searched for likely secrets. */
void risks_unsearched(struct arena *a, risk_list *out);

/* --- plan_git.c ----------------------------------------------------------- */

/* A path that git runs, or takes for configuration; `run` keeps it as it is. */
struct plan_git_path {
	struct str path; /* cleaned */
	bool is_dir;
	struct str key;	 /* cleaned: "core.hookspath" */
	struct str file; /* cleaned */
	uint32_t line;	 /* 0: not known */
};
typedef VEC(struct plan_git_path) plan_git;

/* Look; what is left open goes to risks. */
void plan_git_find(struct arena *a, const struct inputs *in,
		   const struct plan *plan, plan_git *out, risk_list *risks);
/* A section, where there is any. */
void plan_git_view(const struct view *v, const plan_git *g);
cJSON *plan_git_json(const plan_git *g);

/* --- plan_linked.c -------------------------------------------------------- */

/* The repository beside the workspace: a section, where there is one. */
void plan_linked_view(const struct view *v, const struct trust_linked *t);
cJSON *plan_linked_json(const struct trust_linked *t);

/* --- plan_identity.c ------------------------------------------------------ */

/* A section, where there is anything to say. */
void plan_identity_view(const struct view *v, const struct gitidentity *g);
cJSON *plan_identity_json(struct arena *a, const struct gitidentity *g);

/* --- model.c -------------------------------------------------------------- */

struct plan_model {
	struct arena *a;
	const struct sources *sources;
	const struct ir_policy *policy; /* IR_NORMALISED */
	const struct plan *plan;
	const struct diags *diags;	/* of the compile: warnings */
	struct workspace_counts counts; /* what patterns hold here */
	bool counted_all;		/* else there may be more */
	bool all;			/* nothing is to be folded: --all */
	bool by_docker, by_native;	/* which engines may run it */
	/* Of 'engine: auto' by Docker alone: why. Else its text is empty. */
	struct native_obstacle obstacle;
	const bool *denied;	     /* per grant: void by denials; or NULL */
	third_party_hits reached;    /* where others can read */
	waived_list waived;	     /* warnings with an exception */
	char digest[SHA256_HEX_MAX]; /* of the manifest */
	struct contribution adds;    /* of the workspace */
	enum trust_state trust;
	struct err trust_err;	     /* TRUST_UNKNOWN: why */
	struct diags refused;	     /* what cannot be enforced: errors */
	plan_git git;		     /* as the workspace is now */
	struct trust_linked linked;  /* likewise */
	struct gitidentity identity; /* as git of this host is set up now */
	risk_list risks;
	const struct plan *last; /* that ran here before, or NULL */
	/* What it says, and how access changed since, when this version can
	 * read it: own.c.ok. */
	struct derived own;
	struct changes changes;
	struct plan_delta *files; /* that differ */
	uint32_t n_files;
	bool first_use; /* there is no global file yet */
	const struct kube_options *kubernetes; /* NULL: for one machine */
};

/* last: the plan that ran here last, or NULL. c is ok. */
void model_make(struct plan_model *m, struct compilation *c,
		const struct inputs *in, const struct plan *last);
void model_done(struct plan_model *m);
/* Whether m->changes is there. */
bool model_has_changes(const struct plan_model *m);

/* "file:line", "<command line>", "builtin"; empty for nowhere. Cleaned. */
struct str model_source(const struct plan_model *m, struct ir_origin from);

/* --- plan_reach.c --------------------------------------------------------- */

void plan_reach(const struct view *v, const struct plan_model *m);

/* --- plan_patterns.c ------------------------------------------------------ */

/* What cannot be seen, and what cannot be changed. */
void plan_patterns(const struct view *v, const struct plan_model *m);

/* --- plan_settings.c ------------------------------------------------------ */

/* How a session is run. */
void plan_settings(const struct view *v, const struct plan_model *m);

/* --- plan_kubernetes.c ---------------------------------------------------- */

/* How a Pod is made of it, and what that does not hold; in the place of how a
 * session is run. */
void plan_kubernetes(const struct view *v, const struct plan_model *m);

/* --- plan_view.c ---------------------------------------------------------- */

/* How many grants, denials and credentials have TLS decrypted. */
uint64_t plan_decrypted(const struct ir_policy *p);

/* --- plan_trace.c --------------------------------------------------------- */

/* Nobody set anything of it, and it is on. */
bool plan_trace_is_usual(const struct plan_model *m);
/* A section; where it is as usual only when nothing is to be folded. */
void plan_trace(const struct view *v, const struct plan_model *m);

#endif
