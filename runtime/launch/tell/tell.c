#include "runtime/launch/tell/tell.h"

#include "compiler/base/json.h"
#include "compiler/base/secret.h"
#include "compiler/base/sys/clock.h"
#include "compiler/base/sys/proc.h"
#include "runtime/launch/session/summary.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECOND_MS 1000

void tell_init(struct tell *t, struct arena *a, const struct refusal_of *of)
{
	t->a = a;
	t->of = *of;
	voice_init(&t->voice);
	carrier_init(&t->carrier);
	hook_init(&t->hook, a, HOOK_NONE);
}

void tell_aloud(struct tell *t, bool colour, bool hands_on)
{
	struct err ignored;

	/* then the end tells */
	if (voice_open(&t->voice, STDERR_FILENO, &ignored) == 0)
		t->colour = colour;
	t->hands_on = hands_on;
}

void tell_streams(struct tell *t, struct proc_opts *o)
{
	struct err ignored;

	if (t->voice.fd < 0 || !carrier_fits(t->hands_on) ||
	    carrier_start(&t->carrier, o, &ignored) < 0)
		return;
	voice_done(&t->voice);
	ignore(voice_open(&t->voice, t->carrier.told, &ignored));
}

void tell_streams_done(struct tell *t, struct proc_opts *o)
{
	if (!t->carrier.pid)
		return;
	fd_close(&o->out);
	fd_close(&o->err);
}

int tell_hook(struct tell *t, const struct tell_wish *wish,
	      char *const *command, struct err *err)
{
	const char *key;

	if (command) {
		hook_init(&t->hook, t->a, HOOK_COMMAND);
		t->hook.argv = command;
	} else if (wish->webhook) {
		key = getenv(wish->key_env);
		if (!key || !*key)
			return err_set(
				err, -ENOKEY,
				"'on_refusal' signs with what the variable %s holds, which is not set",
				wish->key_env);
		hook_init(&t->hook, t->a, HOOK_WEBHOOK);
		t->hook.url = wish->webhook;
		t->hook.key = key;
	}
	t->hook.session = t->of.session;
	return 0;
}

/* A desktop's bus, by its variable or at its usual place. */
static bool has_bus(struct arena *a)
{
	const char *named = getenv("DBUS_SESSION_BUS_ADDRESS");
	const char *dir = getenv("XDG_RUNTIME_DIR");
	struct stat st;

	if (named && *named)
		return true;
	return dir && *dir == '/' &&
	       stat(arena_fmt(a, "%s/bus", dir).p, &st) == 0 &&
	       S_ISSOCK(st.st_mode);
}

void tell_desktop(struct tell *t)
{
	static char program[] = "/usr/bin/notify-send",
		    name[] = "--app-name=membrane", end[] = "--";
	static char *const argv[] = {program, name, end, NULL};

	if (!has_bus(t->a) || access(program, X_OK) < 0)
		return;
	hook_init(&t->hook, t->a, HOOK_DESKTOP);
	t->hook.argv = argv;
	t->hook.session = t->of.session;
}

/* --- on stderr ------------------------------------------------------------ */

static void say_line(struct tell *t, struct str line)
{
	if (voice_add(&t->voice, line)) {
		t->in_second++;
		t->in_session++;
	} else {
		t->folded++;
	}
}

/* The number of those that were not told, once their second is over. */
static void close_second(struct tell *t, int64_t now_ms)
{
	struct arena *a;

	if (!t->second_ms || t->is_over || now_ms < t->second_ms + SECOND_MS)
		return;
	a = arena_new();
	if (t->folded &&
	    voice_add(
		    &t->voice,
		    t->in_session >= TELL_SESSION
			    ? arena_fmt(
				      a,
				      "membrane: refusals are said no more: membrane watch %s\n",
				      t->of.session)
			    : arena_fmt(
				      a,
				      "membrane: and %llu more were refused: membrane logs %s\n",
				      (unsigned long long)t->folded,
				      t->of.session)))
		t->folded = 0;
	arena_free(a);
	/* what found no room is told of when there is some */
	t->second_ms = t->folded && t->voice.fd >= 0 ? now_ms : 0;
	t->in_second = 0;
	t->is_over = t->in_session >= TELL_SESSION && !t->second_ms;
}

static void say_aloud(struct tell *t, struct arena *a, const struct refusal *r)
{
	int64_t now_ms = clock_ms();
	struct buf line;

	close_second(t, now_ms);
	if (t->voice.fd < 0 || t->is_over)
		return;
	if (!t->second_ms)
		t->second_ms = now_ms;
	if (t->in_second >= TELL_SECOND || t->in_session >= TELL_SESSION) {
		t->folded++;
		return;
	}
	buf_init(&line, a);
	refusal_line(r, t->colour, &line);
	say_line(t, buf_str(&line));
}

/* --- to a hook ------------------------------------------------------------ */

/* Its title, then what is in it. */
static struct str desktop_text(struct arena *a, const struct refusal *r)
{
	struct str by = refusal_whose(a, r), readers = refusal_read_by(a, r);

	return arena_fmt(a, "membrane: refused %.*s\n%.*s%s%.*s%s%.*s",
			 STR_ARG(r->what), STR_ARG(r->advice), by.n ? "\n" : "",
			 STR_ARG(by), readers.n ? "\n" : "", STR_ARG(readers));
}

static void add_event(struct tell *t, struct arena *a, const struct refusal *r)
{
	switch (t->hook.kind) {
	case HOOK_NONE:
		return;
	case HOOK_COMMAND:
	case HOOK_WEBHOOK:
		if (hook_has_room(&t->hook))
			hook_add(
				&t->hook,
				json_compact(a, refusal_json(a, r, &t->of,
							     t->hook.dropped)));
		return;
	case HOOK_DESKTOP:
		/* a person reads one, not all of a storm */
		if (hook_is_idle(&t->hook) && hook_has_room(&t->hook))
			hook_add(&t->hook,
				 desktop_text(a, r));
		return;
	}
}

static void tell_now(struct tell *t, const struct refusal *r)
{
	struct arena *a = arena_new();

	say_aloud(t, a, r);
	add_event(t, a, r);
	if (t->on_told)
		t->on_told(t->ctx, json_compact(a, refusal_json(a, r, &t->of,
								0)));
	arena_free(a);
}

/* --- whose it was --------------------------------------------------------- */

static struct tell_waiting *find_waiting(struct tell *t, uint32_t id)
{
	for (size_t i = 0; i < TELL_WAITING; i++)
		if (t->waiting[i].id == id)
			return &t->waiting[i];
	return NULL;
}

static void end_waiting(struct tell *t, struct tell_waiting *w)
{
	tell_now(t, &w->r);
	cJSON_Delete(w->record);
	arena_free(w->a);
	*w = (struct tell_waiting){0};
}

static void end_overdue(struct tell *t, int64_t now_ms)
{
	for (size_t i = 0; i < TELL_WAITING; i++)
		if (t->waiting[i].id && t->waiting[i].until_ms <= now_ms)
			end_waiting(t, &t->waiting[i]);
}

static bool is_asked(struct tell *t, const struct refusal *r)
{
	struct tell_waiting *w = find_waiting(t, 0);
	uint32_t id = t->last_id + 1 ? t->last_id + 1 : 1;

	if (!w || !t->on_ask || !t->on_ask(t->ctx, id, r))
		return false;
	t->last_id = id;
	*w = (struct tell_waiting){.id = id,
				   .until_ms = clock_ms() + REFUSAL_WHOSE_MS,
				   .a = arena_new(),
				   .record = cJSON_Duplicate(r->record, true)};
	w->r = refusal_copy(w->a, r);
	w->r.record = w->record;
	return true;
}

void tell_refusal(struct tell *t, const struct refusal *r)
{
	if (!is_asked(t, r))
		tell_now(t, r);
	tell_pump(t);
}

void tell_whose(struct tell *t, uint32_t id, const struct refusal_by *by)
{
	struct tell_waiting *w = id ? find_waiting(t, id) : NULL;

	if (!w)
		return; /* it has been told by now */
	w->r.by = *by;
	w->r.by.command = secret_hidden(w->a, by->command);
	end_waiting(t, w);
	tell_pump(t);
}

/* --- the loop's ----------------------------------------------------------- */

size_t tell_fds(const struct tell *t, struct pollfd *out)
{
	out[0] =
		(struct pollfd){.fd = voice_waits(&t->voice) ? t->voice.fd : -1,
				.events = POLLOUT};
	return 1 + hook_fds(&t->hook, out + 1);
}

int64_t tell_deadline(const struct tell *t)
{
	int64_t second =
		t->second_ms && t->folded ? t->second_ms + SECOND_MS : 0;
	int64_t first = clock_earlier(hook_deadline(&t->hook), second);

	for (size_t i = 0; i < TELL_WAITING; i++)
		if (t->waiting[i].id)
			first = clock_earlier(first, t->waiting[i].until_ms);
	return first;
}

static void say_failure(struct tell *t)
{
	struct arena *a;
	struct buf line;

	if (t->voice.fd < 0)
		return;
	a = arena_new();
	buf_init(&line, a);
	tell_words(t, &line);
	if (line.n && !voice_add(&t->voice, buf_str(&line)))
		t->hook.was_told = false; /* at the end, then */
	arena_free(a);
}

void tell_pump(struct tell *t)
{
	end_overdue(t, clock_ms());
	if (t->second_ms && t->folded)
		close_second(t, clock_ms());
	hook_pump(&t->hook);
	say_failure(t);
	voice_pump(&t->voice);
}

void tell_finish(struct tell *t)
{
	int64_t until = clock_ms() + TELL_END_MS;
	struct pollfd fds[TELL_FDS + 1];

	end_overdue(t, INT64_MAX);
	tell_pump(t);
	while (!hook_is_idle(&t->hook) && clock_ms() < until) {
		size_t n = tell_fds(t, fds);
		struct proc_signal ignored;

		fds[n++] = (struct pollfd){.fd = proc_signals_fd(),
					   .events = POLLIN};
		if (poll(fds, n, (int)(until - clock_ms())) < 0 &&
		    errno != EINTR)
			break;
		while (proc_signals_next(&ignored))
			if (ignored.signo != SIGCHLD)
				until = 0;
		tell_pump(t);
	}
	hook_done(&t->hook);
	voice_pump(&t->voice);
	voice_done(&t->voice);
	t->in_line = carrier_end(&t->carrier);
}

void tell_begin_line(struct tell *t)
{
	if (t->in_line)
		fputc('\n', stderr);
	t->in_line = false;
}

void tell_words(struct tell *t, struct buf *out)
{
	const char *why = hook_failure(&t->hook);

	if (!why)
		return;
	buf_adds(out, "membrane: 'on_refusal' failed: ");
	summary_escape(out, str_of(why), HOOK_WHY);
	buf_adds(out, "; this is said once\n");
}
