/* `membrane attach`: which session is meant, and its terminal or streams. */
#include "compiler/base/sys/fileio.h"
#include "compiler/cli/text/console.h"
#include "compiler/cli/text/view.h"
#include "compiler/cli/workspace/inputs.h"
#include "runtime/launch/attach/join.h"
#include "runtime/launch/attach/keeper.h"

#include <errno.h>
#include <fcntl.h>

#define WORDS_MAX (1u << 20) /* bytes of a keeper's log */

struct attaching {
	struct arena *a;
	struct metadata about;
	const char *id;
	struct join_opts join;
};

static int fail_attach(const struct attaching *t, const struct err *err)
{
	console_error("%s", view_cleaned(t->a, str_of(err->text)).p);
	return STATUS_RUN_FAILED;
}

/* False: said. */
static bool read_flags(const struct options *o, struct join_opts *out)
{
	const struct option_given *keys = options_get(o, OPTION_DETACH_KEYS);
	const struct option_given *tail = options_get(o, OPTION_TAIL);

	*out = (struct join_opts){
		.no_input = options_get(o, OPTION_NO_STDIN) != NULL,
		.past = options_get(o, OPTION_LOGS) || tail,
		.lines = UINT64_MAX,
	};
	if (!detach_parse(keys ? keys->value : STR(DETACH_DEFAULT),
			  &out->keys)) {
		console_error(
			"--detach-keys takes keys with commas between them, each a character\n  or ctrl- and one of a-z @ [ \\ ] ^ _, as in " DETACH_DEFAULT);
		return false;
	}
	if (tail && !str_u64(tail->value, UINT32_MAX, &out->lines)) {
		console_error("--tail takes a number of lines");
		return false;
	}
	return true;
}

/* What run would have said at its end. */
static void say_words(const struct attaching *t, const struct metadata_end *end)
{
	const char *path =
		arena_fmt(t->a, "%s/" KEEPER_LOG, t->about.session.dir).p;
	struct str text = {0}, line;
	struct err ignored;

	if (fileio_read(t->a, AT_FDCWD, path, WORDS_MAX, &text, &ignored) < 0 &&
	    end->error) {
		/* it never came so far as to have a log of its own */
		console_error("%s", view_cleaned(t->a, str_of(end->error)).p);
		return;
	}
	while (str_line(&text, &line))
		fprintf(stderr, "%s\n", view_cleaned(t->a, line).p);
}

static int tell_lost(const struct attaching *t)
{
	enum session_found state;
	struct err ignored;

	console_error(
		"session %s was lost: its keeper was killed, or the host went down",
		t->id);
	if (metadata_state(&t->about, &state, &ignored) == 0 &&
	    state == SESSION_DEAD)
		fprintf(stderr, "  'membrane stop %s' removes what is left\n",
			t->id);
	fprintf(stderr, "  'membrane logs --agent %s' shows what it printed\n",
		t->id);
	return STATUS_RUN_FAILED;
}

/* It was over before we came. */
static int show_end(struct attaching *t)
{
	struct metadata_end end;
	bool skipped = false;
	struct err err;

	metadata_end_read(t->a, &t->about.session, &end);
	if (t->join.past && join_print(&t->about, true, t->join.lines, false,
				       &skipped, &err) < 0)
		return fail_attach(t, &err);
	if (!end.known)
		return tell_lost(t);
	say_words(t, &end);
	console_error("session %s has ended with status %d, %s\n"
		      "  'membrane logs --agent %s' shows what it printed",
		      t->id, end.status, end.at, t->id);
	return end.status;
}

static int join_session(struct attaching *t)
{
	struct metadata_end end;
	enum join_how how;
	struct err err;
	int signo;

	if (join_run(t->a, &t->join, &how, &signo, &err) < 0)
		return fail_attach(t, &err);
	switch (how) {
	case JOIN_ENDED:
		metadata_end_read(t->a, &t->about.session, &end);
		say_words(t, &end);
		return end.status;
	case JOIN_LOST:
		return tell_lost(t);
	case JOIN_DETACHED:
		console_error(
			"left session %s, which goes on: 'membrane attach %s' joins it again",
			t->id, t->id);
		return STATUS_OK;
	case JOIN_SIGNAL:
		break;
	}
	console_error(
		"left session %s, which goes on: 'membrane stop %s' ends it",
		t->id, t->id);
	return 128 + signo;
}

/* The session of that ID, or the only one there is. */
static int find_session(struct attaching *t, const struct options *o,
			struct err *err)
{
	const char *state;
	int rc = inputs_state(t->a, &state, err);

	if (rc < 0)
		return rc;
	rc = o->words.n
		     ? metadata_find(t->a, state, o->words.v[0], &t->about, err)
		     : metadata_find_kept(t->a, state, &t->about, err);
	if (rc < 0)
		return rc;
	t->id = t->about.session.id;
	t->join.about = &t->about;
	if (t->about.streams.kept)
		return 0;
	return err_set(
		err, -ENOENT,
		"session %s has its caller's terminal or streams: those of 'membrane start' can be joined",
		t->id);
}

int command_attach(struct arena *a, const struct options *o)
{
	struct attaching t = {.a = a};
	enum session_found state;
	struct err err;

	if (!read_flags(o, &t.join))
		return STATUS_RUN_FAILED;
	if (find_session(&t, o, &err) < 0 ||
	    metadata_state(&t.about, &state, &err) < 0)
		return fail_attach(&t, &err);
	switch (state) {
	case SESSION_ALIVE:
		return join_session(&t);
	case SESSION_DEAD:
		return tell_lost(&t);
	case SESSION_FINISHED:
		break;
	}
	return show_end(&t);
}
