/* `membrane ps`: the sessions that run, and those that have ended. */
#include "compiler/base/json.h"
#include "compiler/cli/text/console.h"
#include "compiler/cli/text/view.h"
#include "compiler/cli/workspace/inputs.h"
#include "runtime/launch/docker/docker_session.h"
#include "runtime/launch/kubernetes/objects.h"
#include "runtime/launch/session/metadata.h"
#include "runtime/launch/session/change_log.h"

#include <string.h>

#define PS_JSON_VERSION 1
#define CHANGES_SHOWN	3u
#define ANSWER_MS	5000 /* without Docker the sessions are still known */

struct one {
	struct metadata about;
	enum session_found state;
	struct metadata_end end; /* of FINISHED */
	change_log_list changes; /* of its policy */
	struct objects pod;	 /* where it is in a cluster; or nothing */
};

struct list {
	struct arena *a;
	VEC(struct one) sessions; /* the oldest first */
	docker_containers containers;
	bool asked; /* Docker answered */
};

static int by_start(const void *va, const void *vb)
{
	const struct metadata *a = &((const struct one *)va)->about;
	const struct metadata *b = &((const struct one *)vb)->about;

	if (a->started_s != b->started_s)
		return a->started_s < b->started_s ? -1 : 1;
	return strcmp(a->session.id, b->session.id);
}

static int find_sessions(struct list *l, const char *state, bool all_of_them,
			 struct err *err)
{
	sessions all = {0};
	int rc = session_list(l->a, state, &all, err);

	vec_each(s, &all) {
		struct one x = {0};

		if (rc < 0)
			break;
		metadata_read(l->a, s, &x.about);
		rc = metadata_state(&x.about, &x.state, err);
		if (rc == 0 && x.state == SESSION_FINISHED)
			metadata_end_read(l->a, s, &x.end);
		if (rc == 0)
			rc = change_log_read(l->a, s, &x.changes, err);
		/* of a note that cannot be read nothing is shown */
		if (session_is_pod(s) &&
		    objects_noted(l->a, s, &x.pod, err) < 0)
			x.pod = (struct objects){0};
		if (rc == 0 && (all_of_them || x.state != SESSION_FINISHED))
			*vec_push(l->a, &l->sessions) = x;
	}
	vec_sort(&l->sessions, by_start);
	return rc;
}

/* Two of them start at the same time: Docker's own order is no order. */
static int by_role(const void *va, const void *vb)
{
	const struct docker_container *a = va, *b = vb;
	int d = strcmp(a->role, b->role);

	return d ? d : strcmp(a->id, b->id);
}

/* What Docker has of them; that it does not answer is said, and no more. */
static void find_containers(struct list *l)
{
	struct endpoint at = {0};
	struct docker *d = NULL;
	struct err err;
	int rc = endpoint_find(l->a, endpoint_getenv, &at, &err);

	at.timeout_ms = ANSWER_MS;
	if (rc == 0)
		rc = docker_open(l->a, &at, &d, &err);
	if (rc == 0)
		rc = docker_list(d, NULL, &l->containers, &err);
	docker_close(d);
	vec_sort(&l->containers, by_role);
	l->asked = rc == 0;
	if (rc < 0)
		console_error("%s", view_cleaned(l->a, str_of(err.text)).p);
}

static bool is_container_of(const struct docker_container *c,
			    const struct one *x)
{
	return strcmp(c->session, x->about.session.id) == 0;
}

/* Lost is one whose launcher was killed, whatever is left of it. */
static const char *state_word(const struct one *x)
{
	switch (x->state) {
	case SESSION_ALIVE:
		return "running";
	case SESSION_DEAD:
		break;
	case SESSION_FINISHED:
		return x->end.known ? "ended" : "lost";
	}
	return "lost";
}

static bool is_over(const struct one *x)
{
	return x->state == SESSION_FINISHED;
}

/* Those of other engines have none, whatever Docker would say. */
static bool may_have_containers(const struct one *x)
{
	return !is_over(x) && !session_is_native(&x->about.session) &&
	       !session_is_pod(&x->about.session);
}

/* --- as text -------------------------------------------------------------- */

static struct str command_text(struct arena *a, const struct metadata *x)
{
	struct buf b;

	buf_init(&b, a);
	if (!x->known)
		buf_adds(&b, "(no command yet)");
	else if (x->command.n == 0)
		buf_adds(&b, "(the image's own command)");
	vec_each(w, &x->command) {
		if (b.n)
			buf_addc(&b, ' ');
		view_clean(&b, str_of(*w));
	}
	return buf_str(&b);
}

static void add_pod(struct buf *b, const struct objects *pod)
{
	buf_adds(b, "Pod ");
	view_clean(b, pod->name);
	if (pod->at.ns.n) {
		buf_adds(b, " in ");
		view_clean(b, pod->at.ns);
	}
	if (pod->at.context.n) {
		buf_adds(b, " of ");
		view_clean(b, pod->at.context);
	}
}

static struct str containers_text(const struct list *l, const struct one *x)
{
	struct buf b;

	buf_init(&b, l->a);
	vec_each(c, &l->containers) {
		if (!is_container_of(c, x))
			continue;
		buf_adds(&b, b.n ? ", " : "");
		view_clean(&b, str_of(c->role));
		buf_addc(&b, ' ');
		view_clean(&b, str_of(c->state));
	}
	if (session_is_native(&x->about.session))
		buf_adds(&b, "by the native engine");
	else if (x->pod.name.n)
		add_pod(&b, &x->pod);
	else if (b.n == 0)
		buf_adds(&b, l->asked ? "no container" : "containers unknown");
	if (x->state == SESSION_DEAD)
		buf_adds(
			&b,
			"; its launcher is gone: the next 'membrane run' removes what is left");
	return buf_str(&b);
}

static struct str end_text(const struct list *l, const struct one *x)
{
	if (!x->end.known)
		return STR("its launcher was killed; nothing of it is left");
	if (x->end.error)
		return arena_fmt(l->a, "status %d: %s", x->end.status,
				 view_cleaned(l->a, str_of(x->end.error)).p);
	return arena_fmt(l->a, "status %d%s", x->end.status,
			 session_is_native(&x->about.session)
				 ? ", by the native engine"
				 : "");
}

/* "since …", or "… to …" */
static struct str time_text(const struct list *l, const struct one *x)
{
	if (is_over(x) && x->end.at[0])
		return arena_fmt(l->a, "%s to %s", x->about.started, x->end.at);
	return arena_fmt(l->a, "%s%s", is_over(x) ? "" : "since ",
			 x->about.started);
}

static const char *streams_text(const struct metadata *x)
{
	if (!x->streams.kept)
		return "";
	return x->streams.tty ? ", detached, with a terminal" : ", detached";
}

/* The last of them, which say most about what it may do now. */
static struct str changes_text(struct arena *a, const change_log_list *list)
{
	struct buf b;
	uint32_t first = list->n > CHANGES_SHOWN ? list->n - CHANGES_SHOWN : 0;

	buf_init(&b, a);
	buf_adds(&b, "its policy was changed");
	if (list->n > 1)
		buf_addf(&b, " %u times", list->n);
	for (uint32_t i = first; i < list->n; i++)
		buf_addf(&b, "%s %s",
			 i > first ? ","
			 : first   ? ", at last"
				   : ":",
			 change_log_text(a, &list->v[i]).p);
	return buf_str(&b);
}

static void show_session(const struct view *v, const struct list *l,
			 const struct one *x)
{
	struct arena *a = l->a;
	struct str command = command_text(a, &x->about);
	struct str head = arena_fmt(a, "%s  %s%s", x->about.session.id,
				    state_word(x), streams_text(&x->about));

	view_row(v, 0,
		 x->state == SESSION_ALIVE ? VIEW_GOOD
		 : x->end.known		   ? VIEW_DIM
					   : VIEW_WARN,
		 head, time_text(l, x));
	view_row(v, 4, VIEW_PLAIN, command, (struct str){0});
	if (x->about.known)
		view_row(v, 4, VIEW_DIM,
			 arena_fmt(
				 a, "in %s, by %s",
				 view_cleaned(a, str_of(x->about.workspace)).p,
				 metadata_engine(x->about.engine)),
			 (struct str){0});
	buf_adds(v->out, "    ");
	view_wrap(v, 4, 4, is_over(x) ? end_text(l, x) : containers_text(l, x));
	if (x->changes.n) {
		buf_adds(v->out, "    ");
		view_wrap(v, 4, 4, changes_text(a, &x->changes));
	}
}

/* --- as JSON -------------------------------------------------------------- */

static cJSON *containers_json(const struct list *l, const struct one *x)
{
	cJSON *all = json_array();

	vec_each(c, &l->containers) {
		cJSON *o;

		if (!is_container_of(c, x))
			continue;
		o = json_object();
		json_put_cstr(o, "id", c->id);
		json_put_cstr(o, "name", c->name);
		json_put_cstr(o, "role", c->role);
		json_put_cstr(o, "state", c->state);
		json_push(all, o);
	}
	return all;
}

static cJSON *pod_json(const struct objects *pod)
{
	cJSON *o = json_object();

	json_put_str(o, "context", pod->at.context);
	json_put_str(o, "namespace", pod->at.ns);
	json_put_str(o, "name", pod->name);
	return o;
}

/* Of one that has ended; without a status when it was lost. */
static void put_end(cJSON *o, const struct metadata_end *end)
{
	if (!end->known)
		return;
	json_put_cstr(o, "ended", end->at);
	json_put_u64(o, "status", (uint64_t)end->status);
	if (end->error)
		json_put_cstr(o, "error", end->error);
}

static cJSON *changes_list(const struct one *x)
{
	cJSON *all = json_array();

	vec_each(c, &x->changes)
		json_push(all, change_log_json(c));
	return all;
}

static struct str list_json(const struct list *l)
{
	cJSON *root = json_object(), *all = json_array();

	json_put_u64(root, "version", PS_JSON_VERSION);
	json_put(root, "sessions", all);
	vec_each(x, &l->sessions) {
		cJSON *o = json_object(), *words = json_array();

		json_put_cstr(o, "session", x->about.session.id);
		json_put_cstr(o, "state", state_word(x));
		json_put_cstr(o, "started", x->about.started);
		json_put_cstr(o, "workspace", x->about.workspace);
		json_put_cstr(o, "engine", x->about.engine);
		vec_each(w, &x->about.command)
			json_push_str(words, str_of(*w));
		json_put(o, "command", words);
		json_put_bool(o, "detached", x->about.streams.kept);
		json_put_bool(o, "terminal", x->about.streams.tty);
		if (x->changes.n)
			json_put(o, "changes", changes_list(x));
		if (x->pod.name.n)
			json_put(o, "pod", pod_json(&x->pod));
		if (is_over(x))
			put_end(o, &x->end);
		else
			json_put(o, "containers",
				 l->asked || !may_have_containers(x)
					 ? containers_json(l, x)
					 : cJSON_CreateNull());
		json_push(all, o);
	}
	return json_shown(l->a, root);
}

/* --- the command ---------------------------------------------------------- */

/* What scripts read. */
static struct str list_ids(const struct list *l)
{
	struct buf out;

	buf_init(&out, l->a);
	vec_each(x, &l->sessions)
		buf_addf(&out, "%s\n", x->about.session.id);
	return buf_str(&out);
}

int command_ps(struct arena *a, const struct options *o)
{
	struct list l = {.a = a};
	bool ids = options_get(o, OPTION_IDS) != NULL;
	struct buf out;
	struct view v = {&out, console_width(STDOUT_FILENO),
			 console_colour(STDOUT_FILENO)};
	const char *state;
	bool any = false;
	struct err err;

	if (ids && options_get(o, OPTION_JSON)) {
		console_error("--ids and --json do not go together");
		return STATUS_USAGE;
	}
	buf_init(&out, a);
	if (inputs_state(a, &state, &err) < 0 ||
	    find_sessions(&l, state, options_get(o, OPTION_ALL) != NULL, &err) <
		    0) {
		console_error("%s", view_cleaned(a, str_of(err.text)).p);
		return STATUS_IO;
	}
	if (ids)
		return console_result(list_ids(&l));
	vec_each(x, &l.sessions)
		any = any || may_have_containers(x);
	if (any)
		find_containers(&l);
	if (options_get(o, OPTION_JSON)) {
		buf_add(&out, list_json(&l));
	} else {
		vec_each(x, &l.sessions)
			show_session(&v, &l, x);
		if (l.sessions.n == 0)
			console_error(options_get(o, OPTION_ALL)
					      ? "there is no session"
					      : "no session runs");
	}
	return console_result(buf_str(&out));
}
