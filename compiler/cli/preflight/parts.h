/*
 * What the files of this room share.
 */
#ifndef COMPILER_CLI_PREFLIGHT_PARTS_H
#define COMPILER_CLI_PREFLIGHT_PARTS_H

#include "compiler/base/addr.h"
#include "compiler/cli/doctor/doctor_rows.h"
#include "compiler/cli/preflight/preflight.h"
#include "compiler/cli/workspace/inputs.h"

struct trial_broom;

enum check_id {
#define CHECK(id, group, name, needed, consequence, remedy) CHECK_##id,
#include "compiler/cli/preflight/checks.def"
#undef CHECK
	CHECKS,
};

#define PROBES_ID_MAX 13u /* with its NUL */

/* One visit of a cluster. */
struct visit {
	struct arena *a;
	const struct options *o;
	struct inputs in; /* where the presets are; PATH is trusted from here */
	struct kubectl at; /* once asked: what the kubeconfig says, too */
	const struct kube_options *with;
	char id[PROBES_ID_MAX];
	struct doctor_finding of[CHECKS];
	bool may_remove; /* a ConfigMap: what is left of a trial */
	const struct trial_broom *broom; /* of what is made */
	bool is_told;	 /* a line of progress is on the terminal */
};

/* --- findings.c ------------------------------------------------------------ */

void findings_set(struct visit *v, enum check_id id, enum doctor_state state,
		  const char *detail);
/* What came of a call: 0 is OK, with detail. */
void findings_take(struct visit *v, enum check_id id, int rc,
		   const struct err *err, const char *detail);
/* Not tried, for this reason: those that nothing is known of yet. */
void findings_skip(struct visit *v, enum check_id first, enum check_id last,
		   const char *why);
bool findings_ok(const struct visit *v, enum check_id id);
/* Whether a session of `run` begins there, with the options that were given. */
bool findings_run(const struct visit *v);
/* Print all of them: the exit status. */
must_check int findings_print(struct visit *v);
/* A line of progress for a terminal; NULL takes it away. */
void findings_tell(struct visit *v, const char *what);

/* --- answers.c: what kubectl prints. Pure. ---------------------------------- */

#define ANSWERS_VERSION_MAX 64u

/* `kubectl version --output=json`. */
struct answers_versions {
	char client[ANSWERS_VERSION_MAX], server[ANSWERS_VERSION_MAX];
	unsigned client_minor, server_minor; /* of 1.x; 0: not known */
};
/* False: it is no such object. One that has no server has an empty text. */
must_check bool answers_versions(struct str text, struct answers_versions *out);

/* One right that is asked for. */
struct answers_right {
	enum check_id id;
	const char *verb, *group, *resource, *subresource;
	enum doctor_state state; /* the answer */
};
/* What a server made of SelfSubjectAccessReviews, document by document. */
void answers_rights(struct str text, struct answers_right *rights, size_t n);
/* "create, delete": those of one check that are in a state; empty: none. */
struct str answers_verbs(struct arena *a, const struct answers_right *rights,
			 size_t n, enum check_id id, enum doctor_state state);

/* What a server would keep of the Pods of probes.c: an init container that goes
 * on; a user namespace. */
bool answers_sidecar_kept(struct str pod);
bool answers_users_kept(struct str pod);
/* Whether an APIResourceList has one of that name. */
bool answers_served(struct str list, const char *resource);

/* What a line of the client's log says of the listener. */
enum answers_reach { REACH_NOTHING, REACH_YES, REACH_NO };
enum answers_reach answers_reach(struct str line);

/* A line of a gate's log. */
enum answers_event { GATE_OTHER, GATE_READY, GATE_ERROR };
/* out_text: of GATE_ERROR and GATE_OTHER; out_ipv6: of GATE_READY. */
enum answers_event answers_gate(struct arena *a, struct str line,
				struct str *out_text, bool *out_ipv6);

/* --- probes.c: what is applied, as JSON. Pure. ------------------------------ */

/* Objects follow each other: in JSON kubectl takes no '---' between them. */

#define PROBES_NAME	"membrane-doctor"
#define PROBES_PORT	8080u /* of the listener */
#define PROBES_LISTENER "listener"
#define PROBES_CLIENT	"client"
#define PROBES_POLICY	"policy" /* of the two */
/* For dry runs, which pull nothing. */
#define PROBES_NO_IMAGE                                                        \
	"registry.example.com/membrane-gate@sha256:0000000000000000000000000000000000000000000000000000000000000000"
#define PROBES_DEADLINE_S 300u /* of a Pod whose doctor was killed */

enum probes_form { PROBES_PLAIN, PROBES_SIDECAR, PROBES_OWN_USERS };

/* "membrane-doctor-ID-ROLE"; role NULL: without one. */
const char *probes_name(const struct visit *v, const char *role);
/* SelfSubjectAccessReviews of all of them, a document each. */
struct str probes_reviews(const struct visit *v,
			  const struct answers_right *rights, size_t n);
/* A restricted Pod that does nothing, for a dry run. */
struct str probes_pod(const struct visit *v, enum probes_form form);
/* HAProxy that listens; and one that connects there, again and again. */
struct str probes_listener(const struct visit *v);
struct str probes_client(const struct visit *v, const struct addr *to);
/* A NetworkPolicy of the two, which lets them speak to each other alone; shut:
 * what it is changed to, so that nothing leaves them. */
struct str probes_network(const struct visit *v, bool shut);

/* --- asking.c: nothing is made ---------------------------------------------- */

/* Whether there is a cluster that answers. */
must_check bool asking_cluster(struct visit *v);
void asking_rights(struct visit *v);
void asking_admitted(struct visit *v);

/* --- trying.c: Pods are made, and deleted ----------------------------------- */

/* -EINTR: a signal ended it, and what was made is deleted. */
must_check int trying_pods(struct visit *v, struct err *err);

/* --- wire.c: a Pod with its gate, of the least of policies ------------------ */

struct wire {
	struct str text;	/* ConfigMap, NetworkPolicy, Pod */
	const char *pod, *plan; /* names of the Pod and of the ConfigMap */
};
/* By the form that the server takes. False: it was said. */
must_check bool wire_write(struct visit *v, struct wire *out);

#endif
