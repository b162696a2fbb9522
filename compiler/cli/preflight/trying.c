/*
 * What only Pods tell: whether a NetworkPolicy is enforced, and whether a gate
 * takes the wire. They are small, have a deadline, and are deleted at the end.
 */
#include "compiler/cli/preflight/parts.h"

#include "compiler/base/sys/clock.h"
#include "compiler/base/sys/proc.h"
#include "runtime/launch/kubernetes/objects.h"
#include "runtime/launch/kubernetes/trial.h"

#include <errno.h>

#define START_MS   120000 /* of a Pod: its image is pulled */
#define REACH_MS   15000  /* until one Pod has connected to the other */
#define ENFORCE_MS 15000  /* until a changed NetworkPolicy holds */

#define SAYS "what it says"

/* What a log has told. */
struct told {
	struct visit *v;
	enum answers_reach reach;
	bool ready, ipv6;
	bool failed;	  /* words: the gate's own error */
	struct str words; /* else the last line */
};

static int apply_text(struct visit *v, struct str text, struct err *err)
{
	struct objects o = {.at = v->at};
	int rc;

	trial_broom_hold(v->broom, true);
	rc = objects_apply(v->a, &o, text, err);
	trial_broom_hold(v->broom, false);
	return rc;
}

static struct trial new_trial(struct told *t, const char *pod,
			      enum seen_part part,
			      void (*on_line)(void *ctx, struct str line))
{
	return (struct trial){.a = t->v->a,
			      .at = &t->v->at,
			      .pod = pod,
			      .part = part,
			      .on_line = on_line,
			      .ctx = t};
}

/* Not a verdict: something else was in the way. */
static void set_unknown(struct told *t, enum check_id id, const char *what,
			const char *why)
{
	findings_set(t->v, id, DOCTOR_UNKNOWN,
		     arena_fmt(t->v->a, "%s%s%s%.*s", what, why,
			       t->words.n ? ": " : "", STR_ARG(t->words))
			     .p);
	t->v->of[id].remedy = SAYS;
}

/* --- NetworkPolicy ---------------------------------------------------------- */

static void on_speaker(void *ctx, struct str line)
{
	struct told *t = ctx;
	enum answers_reach reach = answers_reach(line);

	if (reach != REACH_NOTHING)
		t->reach = reach;
	else
		t->words = arena_str(t->v->a, line);
}

static bool has_address(const struct trial *t)
{
	return t->seen.of[SEEN_AGENT].state == SEEN_RUNS && t->ip.family;
}

static bool has_begun(const struct trial *t)
{
	return t->seen.of[SEEN_AGENT].state == SEEN_RUNS;
}

static bool has_reached(const struct trial *t)
{
	return ((const struct told *)t->ctx)->reach == REACH_YES;
}

static bool is_shut_out(const struct trial *t)
{
	return ((const struct told *)t->ctx)->reach == REACH_NO;
}

/* 1: it is so; 0: it is not, and said so. */
static int wait_for(struct trial *t, int64_t ms,
		    bool (*is_done)(const struct trial *t), const char *what,
		    struct err *err)
{
	char why[SEEN_TEXT_MAX];
	enum trial_end end;
	int rc = trial_wait(t, clock_ms() + ms, is_done, &end, why, err);

	if (rc < 0 || end == TRIAL_DONE)
		return rc < 0 ? rc : 1;
	set_unknown(t->ctx, CHECK_NETWORK, what, why);
	return 0;
}

static int begin_listener(struct visit *v, struct addr *out, struct err *err)
{
	struct told told = {.v = v};
	struct trial t = new_trial(&told, probes_name(v, PROBES_LISTENER),
				   SEEN_AGENT, on_speaker);
	struct str text =
		arena_fmt(v->a, "%.*s%.*s", STR_ARG(probes_network(v, false)),
			  STR_ARG(probes_listener(v)));
	int rc = apply_text(v, text, err);

	if (rc == 0)
		rc = trial_begin(&t, err);
	if (rc < 0)
		return rc;
	rc = wait_for(&t, START_MS, has_address,
		      "the Pod that listens does not begin: ", err);
	*out = t.ip;
	trial_done(&t);
	return rc;
}

/* On the server's side: no right to read it is needed. */
static int shut_client(struct visit *v, struct err *err)
{
	static const char *const words[] = {
		"apply",	     "--server-side", "--force-conflicts",
		"--field-manager=membrane", "--filename=-", NULL};
	struct kubectl_call c = {.words = words,
				 .input = probes_network(v, true),
				 .timeout_ms = OBJECTS_MS};
	int rc;

	trial_broom_hold(v->broom, true);
	rc = kubectl_do(v->a, &v->at, &c, err);
	trial_broom_hold(v->broom, false);
	return rc;
}

static int judge_shut(struct trial *t, struct err *err)
{
	struct told *told = t->ctx;
	struct visit *v = told->v;
	int64_t begun = clock_ms();
	char why[SEEN_TEXT_MAX];
	enum trial_end end;
	int rc = trial_wait(t, begun + ENFORCE_MS, is_shut_out, &end, why, err);

	if (rc < 0)
		return rc;
	switch (end) {
	case TRIAL_DONE:
		findings_set(v, CHECK_NETWORK, DOCTOR_OK,
			     "enforced: a Pod that nothing may leave connects to nothing");
		break;
	case TRIAL_LATE:
		findings_set(v, CHECK_NETWORK, DOCTOR_MISSING,
			     arena_fmt(v->a,
				       "not enforced: %d s after nothing may leave a Pod it still connects to another",
				       ENFORCE_MS / 1000)
				     .p);
		break;
	case TRIAL_HOPELESS:
		set_unknown(told, CHECK_NETWORK, "", why);
		break;
	}
	return 0;
}

/* Until it has connected; then nothing may leave it. */
static int watch_client(struct trial *t, struct err *err)
{
	struct told *told = t->ctx;
	int rc = wait_for(t, START_MS, has_begun,
			  "the Pod that connects does not begin: ", err);

	if (rc == 1)
		rc = wait_for(t, REACH_MS, has_reached,
			      "one Pod does not reach the other, while a NetworkPolicy lets it: ",
			      err);
	if (rc != 1)
		return rc;
	findings_tell(told->v, "waiting until a NetworkPolicy is enforced");
	rc = shut_client(told->v, err);
	return rc < 0 ? rc : judge_shut(t, err);
}

static int try_network(struct visit *v, struct err *err)
{
	struct told told = {.v = v};
	struct trial t = new_trial(&told, probes_name(v, PROBES_CLIENT),
				   SEEN_AGENT, on_speaker);
	struct addr to = {0};
	int rc;

	findings_tell(v, "trying a NetworkPolicy on two Pods");
	rc = begin_listener(v, &to, err);
	if (rc != 1)
		return rc;
	rc = apply_text(v, probes_client(v, &to), err);
	if (rc == 0)
		rc = trial_begin(&t, err);
	if (rc < 0)
		return rc;
	rc = watch_client(&t, err);
	trial_done(&t);
	return rc;
}

/* --- a Pod with its gate ---------------------------------------------------- */

static void on_gate(void *ctx, struct str line)
{
	struct told *t = ctx;
	struct str words = {0};

	switch (answers_gate(t->v->a, line, &words, &t->ipv6)) {
	case GATE_READY:
		t->ready = true;
		break;
	case GATE_ERROR:
		t->words = words;
		t->failed = true;
		break;
	case GATE_OTHER:
		if (!t->failed)
			t->words = words;
		break;
	}
}

static bool is_stuck(const struct trial *t, char out[SEEN_TEXT_MAX])
{
	return t->seen.of[SEEN_AGENT].state == SEEN_WAITS &&
	       seen_hopeless(&t->seen, out);
}

static bool is_through(const struct trial *t)
{
	char ignored[SEEN_TEXT_MAX];

	return ((const struct told *)t->ctx)->ready &&
	       (t->seen.of[SEEN_AGENT].state >= SEEN_RUNS ||
		is_stuck(t, ignored));
}

/* What a fence said that has ended: nobody has followed its log. */
static void read_fence(struct told *t, const char *pod)
{
	const char *words[] = {"logs", "--container=fence", pod, NULL};
	struct kubectl_call c = {.words = words, .timeout_ms = OBJECTS_MS};
	struct str rest, line;
	struct err ignored;

	if (kubectl_do(t->v->a, &t->v->at, &c, &ignored) < 0)
		return;
	rest = c.text;
	while (str_line(&rest, &line))
		on_gate(t, line);
}

static void judge_failure(struct trial *t, const char *why)
{
	const struct seen_container *fence = &t->seen.of[SEEN_FENCE];
	struct told *told = t->ctx;
	struct visit *v = told->v;

	if (fence->state == SEEN_ENDED && fence->status != 0)
		read_fence(told, t->pod);
	findings_set(v, CHECK_GATE, DOCTOR_MISSING,
		     arena_fmt(v->a, "%s%s%.*s", why,
			       told->words.n ? ": " : "", STR_ARG(told->words))
			     .p);
	findings_skip(v, CHECK_IPV6, CHECK_SECCOMP, "the gate does not work");
}

static void judge_agent(struct trial *t)
{
	struct visit *v = ((struct told *)t->ctx)->v;
	char why[SEEN_TEXT_MAX];
	bool stuck = is_stuck(t, why);
	enum check_id id =
		v->with->seccomp.n ? CHECK_SECCOMP : CHECK_GATE;

	if (v->with->seccomp.n)
		findings_set(v, CHECK_SECCOMP, DOCTOR_OK,
			     arena_cstr(v->a, v->with->seccomp));
	if (stuck)
		findings_set(v, id, DOCTOR_MISSING,
			     arena_cstr(v->a, str_of(why)));
}

static void judge_gate(struct trial *t, enum trial_end end, const char *why)
{
	const struct told *told = t->ctx;
	struct visit *v = told->v;

	if (end != TRIAL_DONE) {
		judge_failure(t, why);
		return;
	}
	findings_set(v, CHECK_GATE, DOCTOR_OK,
		     v->with->sidecar == KUBE_SIDECAR_CONTAINER ||
				     !findings_ok(v, CHECK_SIDECAR)
			     ? "it is ready, as a container (--sidecar container)"
			     : "it is ready, and the agent began behind it");
	findings_set(v, CHECK_IPV6, told->ipv6 ? DOCTOR_OK : DOCTOR_MISSING,
		     NULL);
	judge_agent(t);
}

static int try_gate(struct visit *v, const struct wire *w, struct err *err)
{
	struct told told = {.v = v};
	struct trial t = new_trial(&told, w->pod, SEEN_GATE, on_gate);
	char why[SEEN_TEXT_MAX];
	enum trial_end end;
	int rc;

	findings_tell(v, "trying a gate in its Pod");
	rc = apply_text(v, w->text, err);
	if (rc == 0)
		rc = trial_begin(&t, err);
	if (rc < 0)
		return rc;
	rc = trial_wait(&t, clock_ms() + START_MS, is_through, &end, why, err);
	if (rc == 0)
		judge_gate(&t, end, why);
	trial_done(&t);
	return rc;
}

/* --- both ------------------------------------------------------------------- */

/* What kubectl refuses is a finding; a signal is the end. */
static int settle(struct visit *v, enum check_id id, int rc, struct err *err)
{
	if (rc == -EINTR || rc >= 0)
		return rc < 0 ? rc : 0;
	if (trial_interrupted())
		return err_set(err, -EINTR, "interrupted");
	findings_take(v, id, rc, err, NULL);
	v->of[id].state = DOCTOR_UNKNOWN;
	v->of[id].remedy = SAYS;
	return 0;
}

/* Why no Pod is made; NULL: it may. */
static const char *find_obstacle(const struct visit *v)
{
	static const enum check_id rights[] = {CHECK_MAY_PODS, CHECK_MAY_LOGS,
					       CHECK_MAY_POLICIES};

	if (!v->with->gate_image.n)
		return "'--gate-image' was not given";
	for (size_t i = 0; i < ARRAY_LEN(rights); i++)
		if (v->of[rights[i]].state == DOCTOR_MISSING)
			return "a right is missing that this takes";
	return findings_ok(v, CHECK_RESTRICTED)
		       ? NULL
		       : "not even a restricted Pod is taken";
}

static const char *find_gate_obstacle(const struct visit *v)
{
	if (!findings_ok(v, CHECK_POD))
		return "the Pod is not taken";
	if (v->of[CHECK_MAY_CONFIGMAPS].state == DOCTOR_MISSING)
		return "you may not create a ConfigMap";
	return v->may_remove
		       ? NULL
		       : "you may not delete ConfigMaps, and one would be left";
}

/* Nobody said that they are there, and all were needed just now. */
static void judge_rights(struct visit *v)
{
	for (int i = CHECK_MAY_PODS; i <= CHECK_MAY_POLICIES; i++)
		if (v->of[i].state == DOCTOR_UNKNOWN && findings_ok(v, CHECK_GATE))
			findings_set(v, (enum check_id)i, DOCTOR_OK,
				     "enough for what was tried");
}

static int try_both(struct visit *v, const struct wire *w, struct err *err)
{
	const char *obstacle = find_gate_obstacle(v);
	int rc = settle(v, CHECK_NETWORK, try_network(v, err), err);

	if (rc < 0)
		return rc;
	if (!obstacle)
		rc = settle(v, CHECK_GATE, try_gate(v, w, err), err);
	findings_skip(v, CHECK_GATE, CHECK_SECCOMP,
		      obstacle ? obstacle : "the gate was not tried");
	judge_rights(v);
	return rc;
}

static const char *name_of(struct visit *v, const char *kind, const char *name)
{
	return arena_fmt(v->a, "%s/%s", kind, name).p;
}

/* Whatever becomes of this process, its objects go. */
static int try_within(struct visit *v, const struct wire *w, struct err *err)
{
	const char *names[] = {
		name_of(v, "pod", probes_name(v, PROBES_LISTENER)),
		name_of(v, "pod", probes_name(v, PROBES_CLIENT)),
		name_of(v, "pod", w->pod),
		name_of(v, "networkpolicy", probes_name(v, PROBES_POLICY)),
		name_of(v, "networkpolicy", w->pod),
		v->may_remove ? name_of(v, "configmap", w->plan) : NULL,
		NULL};
	struct trial_broom broom;
	struct err why;
	int rc = trial_broom_start(v->a, &v->at, names, &broom, err), left;

	if (rc < 0)
		return rc;
	v->broom = &broom;
	rc = try_both(v, w, err);
	v->broom = NULL;
	findings_tell(v, "deleting what was made there");
	left = trial_broom_finish(&broom, &why);
	if (left < 0 && rc == 0)
		rc = err_set(err, left,
			     "not all that was made there is deleted: %s",
			     why.text);
	return rc;
}

int trying_pods(struct visit *v, struct err *err)
{
	const char *obstacle = find_obstacle(v);
	struct wire w;
	int rc;

	if (!v->with->seccomp.n)
		findings_skip(v, CHECK_SECCOMP, CHECK_SECCOMP,
			      "'--seccomp-profile' was not given");
	if (!obstacle && !wire_write(v, &w))
		obstacle = "the Pod cannot be written";
	if (obstacle) {
		findings_skip(v, CHECK_NETWORK, CHECK_SECCOMP, obstacle);
		return 0;
	}
	rc = proc_signals_catch(err);
	if (rc < 0)
		return rc;
	rc = try_within(v, &w, err);
	proc_signals_restore();
	return rc;
}
