/* What is asked of a cluster without making anything in it. */
#include "compiler/cli/preflight/parts.h"

#include "runtime/launch/kubernetes/objects.h"

#include <errno.h>
#include <string.h>

#define ANSWER "--request-timeout=10s" /* a server that hangs */

static int call_kubectl(struct visit *v, const char *const *words,
			struct str input, struct str *out, struct err *err)
{
	struct kubectl_call c = {
		.words = words, .input = input, .timeout_ms = OBJECTS_MS};
	int rc = kubectl_do(v->a, &v->at, &c, err);

	*out = c.text;
	return rc;
}

/* --- the cluster ------------------------------------------------------------ */

static void judge_skew(struct visit *v, const struct answers_versions *a)
{
	unsigned one = a->client_minor, other = a->server_minor;
	unsigned apart = one > other ? one - other : other - one;

	if (!one || !other)
		findings_set(v, CHECK_SKEW, DOCTOR_UNKNOWN,
			     "a version that is no 1.x");
	else
		findings_set(v, CHECK_SKEW,
			     apart > 1 ? DOCTOR_MISSING : DOCTOR_OK,
			     apart == 0 ? "none"
					: arena_fmt(v->a, "%u minor version%s",
						    apart, apart > 1 ? "s" : "")
						  .p);
}

static bool has_server(struct visit *v, const struct answers_versions *a,
		       const struct kubectl_call *c)
{
	struct err err;

	if (!a->server[0]) {
		kubectl_fault(c, &err);
		findings_take(v, CHECK_SERVER, -EREMOTEIO, &err, NULL);
		findings_skip(v, CHECK_SKEW, CHECKS - 1,
			      "the API server does not answer");
		return false;
	}
	findings_set(
		v, CHECK_SERVER, DOCTOR_OK,
		arena_fmt(v->a, "%s%s%.*s, namespace %.*s", a->server,
			  v->at.context.n ? ", context " : "",
			  STR_ARG(v->at.context), STR_ARG(v->at.ns))
			.p);
	judge_skew(v, a);
	return true;
}

bool asking_cluster(struct visit *v)
{
	static const char *const words[] = {"version", "--output=json", ANSWER,
					    NULL};
	struct kubectl_call c = {.words = words, .timeout_ms = OBJECTS_MS};
	struct answers_versions a;
	struct err err;
	int rc;

	findings_tell(v, "asking the API server");
	rc = objects_find(v->a, &v->at, &err);
	if (rc == 0)
		rc = kubectl_run(v->a, &v->at, &c, &err);
	if (rc == 0 && !answers_versions(c.text, &a)) {
		rc = c.status ? kubectl_fault(&c, &err)
			      : err_set(&err, -EPROTO,
					"'kubectl version' prints no version");
	}
	findings_take(v, CHECK_KUBECTL, rc, &err, rc == 0 ? a.client : NULL);
	if (rc < 0) {
		findings_skip(v, CHECK_SERVER, CHECKS - 1,
			      "kubectl does not work");
		return false;
	}
	v->of[CHECK_KUBECTL].detail = arena_cstr(v->a, str_of(a.client));
	if (v->at.ns.n == 0)
		v->at.ns = STR("default"); /* as kubectl has it */
	return has_server(v, &a, &c);
}

/* --- rights ----------------------------------------------------------------- */

#define RIGHT(check, verb, group, resource, sub)                               \
	{CHECK_##check, verb, group, resource, sub, DOCTOR_UNKNOWN}
#define NETWORKING "networking.k8s.io"

/* Of `run`; and what removes what is tried here. */
static const struct answers_right wanted[] = {
	RIGHT(MAY_PODS, "create", "", "pods", ""),
	RIGHT(MAY_PODS, "patch", "", "pods", ""),
	RIGHT(MAY_PODS, "get", "", "pods", ""),
	RIGHT(MAY_PODS, "watch", "", "pods", ""),
	RIGHT(MAY_PODS, "delete", "", "pods", ""),
	RIGHT(MAY_LOGS, "get", "", "pods", "log"),
	RIGHT(MAY_CONFIGMAPS, "create", "", "configmaps", ""),
	RIGHT(MAY_CONFIGMAPS, "patch", "", "configmaps", ""),
	RIGHT(MAY_POLICIES, "create", NETWORKING, "networkpolicies", ""),
	RIGHT(MAY_POLICIES, "patch", NETWORKING, "networkpolicies", ""),
	RIGHT(MAY_POLICIES, "delete", NETWORKING, "networkpolicies", ""),
	RIGHT(MAY_ATTACH, "create", "", "pods", "attach"),
	RIGHT(MAY_EVENTS, "list", "", "events", ""),
	RIGHT(MAY_EVENTS, "watch", "", "events", ""),
	/* this command's own */
	{CHECKS, "delete", "", "configmaps", "", DOCTOR_UNKNOWN},
};

static void judge_rights(struct visit *v, const struct answers_right *r,
			 enum check_id id)
{
	struct str may = answers_verbs(v->a, r, ARRAY_LEN(wanted), id,
				       DOCTOR_OK),
		   not = answers_verbs(v->a, r, ARRAY_LEN(wanted), id,
				       DOCTOR_MISSING),
		   unknown = answers_verbs(v->a, r, ARRAY_LEN(wanted), id,
					   DOCTOR_UNKNOWN);

	if (not.n)
		findings_set(v, id, DOCTOR_MISSING,
			     arena_fmt(v->a, "you may not: %.*s", STR_ARG(not))
				     .p);
	else if (unknown.n)
		findings_set(v, id, DOCTOR_UNKNOWN,
			     arena_fmt(v->a, "no answer about: %.*s",
				       STR_ARG(unknown))
				     .p);
	else
		findings_set(v, id, DOCTOR_OK, arena_cstr(v->a, may));
}

/* A review is an object of which a server keeps nothing but the answer. */
void asking_rights(struct visit *v)
{
	static const char *const words[] = {"create",	      "--filename=-",
					    "--output=json", "--validate=false",
					    ANSWER,	      NULL};
	struct answers_right rights[ARRAY_LEN(wanted)];
	struct str text;
	struct err err;
	int rc;

	findings_tell(v, "asking what you may do there");
	memcpy(rights, wanted, sizeof(wanted));
	rc = call_kubectl(v, words,
			  probes_reviews(v, rights, ARRAY_LEN(rights)), &text,
			  &err);
	answers_rights(text, rights, ARRAY_LEN(rights));
	for (int i = CHECK_MAY_PODS; i <= CHECK_MAY_EVENTS; i++) {
		judge_rights(v, rights, (enum check_id)i);
		if (v->of[i].state != DOCTOR_UNKNOWN)
			continue;
		v->of[i].remedy = "'kubectl auth can-i' asks the same";
		if (rc < 0)
			v->of[i].detail = arena_cstr(v->a, str_of(err.text));
	}
	v->may_remove =
		rights[ARRAY_LEN(rights) - 1].state != DOCTOR_MISSING;
}

/* --- admission -------------------------------------------------------------- */

/* As `run` applies it, and kept nowhere. */
static int dry_run(struct visit *v, struct str input, struct str *out,
		   struct err *err)
{
	static const char *const words[] = {"apply",
					    "--server-side",
					    "--dry-run=server",
					    "--field-manager=membrane",
					    "--output=json",
					    "--filename=-",
					    NULL};

	return call_kubectl(v, words, input, out, err);
}

static void ask_kept(struct visit *v, enum check_id id, enum probes_form form,
		     bool (*is_kept)(struct str), const char *dropped)
{
	struct str text;
	struct err err;
	int rc = dry_run(v, probes_pod(v, form), &text, &err);

	if (rc == 0 && !is_kept(text))
		rc = err_set(&err, -EOPNOTSUPP, "%s", dropped);
	findings_take(v, id, rc, &err, NULL);
}

static void ask_pods(struct visit *v)
{
	struct str text;
	struct err err;
	int rc = dry_run(v, probes_pod(v, PROBES_PLAIN), &text, &err);

	findings_take(v, CHECK_RESTRICTED, rc, &err, NULL);
	if (rc < 0) {
		findings_skip(v, CHECK_SIDECAR, CHECK_OWN_USERS,
			      "not even a restricted Pod is taken");
		return;
	}
	ask_kept(v, CHECK_SIDECAR, PROBES_SIDECAR, answers_sidecar_kept,
		 "the server drops 'restartPolicy' of an init container");
	ask_kept(v, CHECK_OWN_USERS, PROBES_OWN_USERS, answers_users_kept,
		 "the server drops 'hostUsers: false'");
}

static void ask_gate(struct visit *v)
{
	struct wire w;
	struct str text;
	struct err err;

	if (!findings_ok(v, CHECK_RESTRICTED))
		return;
	if (!wire_write(v, &w)) {
		findings_skip(v, CHECK_POD, CHECK_POD,
			      "the Pod cannot be written");
		return;
	}
	findings_take(v, CHECK_POD, dry_run(v, w.text, &text, &err), &err,
		      NULL);
}

static void ask_served(struct visit *v, enum check_id id, const char *path,
		       const char *resource)
{
	const char *words[] = {"get", "--raw", path, ANSWER, NULL};
	struct str text;
	struct err err;
	int rc = call_kubectl(v, words, (struct str){0}, &text, &err);

	if (rc == 0 && !answers_served(text, resource))
		rc = err_set(&err, -ENOENT, "the server has no %s at %s",
			     resource, path);
	findings_take(v, id, rc, &err, path);
}

void asking_admitted(struct visit *v)
{
	findings_tell(v, "asking what is admitted there");
	ask_pods(v);
	ask_gate(v);
	ask_served(v, CHECK_ADMISSION, "/apis/admissionregistration.k8s.io/v1",
		   "validatingadmissionpolicies");
	ask_served(v, CHECK_SANDBOXES, "/apis/agents.x-k8s.io/v1beta1",
		   "sandboxes");
	ask_served(v, CHECK_CILIUM, "/apis/cilium.io/v2",
		   "ciliumnetworkpolicies");
}
