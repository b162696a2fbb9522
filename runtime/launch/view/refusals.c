#include "runtime/launch/view/refusals.h"

#include "compiler/base/json.h"
#include "compiler/base/reason.h"
#include "compiler/plan/mounts_plan.h"
#include "compiler/plan/view_hello.h"
#include "runtime/launch/session/summary.h"

#include <errno.h>
#include <string.h>

#define PATH_MAX_SHOWN 80u /* printed bytes of a path */
#define WIDTH_MAX      40u /* of its column; longer ones push the rest right */

struct entry {
	const char *kind; /* "write", "read" */
	struct str path;
	enum reason reason;
	struct str by; /* the pattern or path that decided; may be empty */
	struct str at; /* where that was written; may be empty */
	bool linked;   /* of the repository beside the workspace */
	bool outside;  /* of the repository that the workspace is a folder of */
	uint64_t count;
};

struct refusals {
	struct arena *a;
	struct str mounts;
	const struct written *written;
	const hello_holds *holds;
	VEC(struct entry) entries; /* in the order first seen */
	uint64_t beyond;
};

struct refusals *refusals_new(struct arena *a, struct str mounts,
			      const struct written *written)
{
	struct refusals *r = arena_new_of(a, struct refusals);

	r->a = a;
	r->mounts = mounts;
	r->written = written;
	return r;
}

void refusals_know(struct refusals *r, const hello_holds *holds)
{
	r->holds = holds;
}

/* --- records -------------------------------------------------------------- */

static struct str member_text(const cJSON *o, const char *key)
{
	const cJSON *m = cJSON_GetObjectItemCaseSensitive(o, key);

	return cJSON_IsString(m) ? str_of(m->valuestring) : STR("");
}

/* Line n, from 0, of those of mounts.plan that begin with word. */
static struct str planned_line(struct str mounts, const char *word, uint64_t n)
{
	struct str line, first;

	while (str_line(&mounts, &line)) {
		if (!str_field(&line, ' ', &first) || !str_is(first, word))
			continue;
		if (n-- == 0)
			return line;
	}
	return STR("");
}

static void find_rule(const struct refusals *r, const cJSON *rule,
		      struct entry *out)
{
	static const char *const planned[] = {
		MOUNTS_PLAN_IGNORE, MOUNTS_PLAN_READONLY, MOUNTS_PLAN_HOLD,
		MOUNTS_PLAN_PROTECT};
	const cJSON *line = cJSON_GetObjectItemCaseSensitive(rule, "line");
	struct str section = member_text(rule, "section");
	uint64_t n = json_find_u64(rule, "line", UINT32_MAX);

	if (!cJSON_IsNumber(line))
		return;
	for (size_t i = 0; i < ARRAY_LEN(planned); i++)
		if (str_is(section, planned[i])) {
			out->by = planned_line(r->mounts, planned[i], n);
			out->at = written_find(r->written, section, n);
		}
	if (str_is(section, VIEW_SAYS_GIT) && r->holds && n < r->holds->n)
		out->by = r->holds->v[n].path;
}

bool refusals_place(const struct refusals *r, const cJSON *d,
		    struct str *out_source, uint64_t *out_line)
{
	struct entry e = {0};

	find_rule(r, cJSON_GetObjectItemCaseSensitive(d, "rule"), &e);
	return written_split(e.at, out_source, out_line);
}

static struct entry *find_entry(struct refusals *r, const struct entry *like)
{
	vec_each(e, &r->entries)
		if (e->kind == like->kind && e->reason == like->reason &&
		    str_eq(e->path, like->path))
			return e;
	return NULL;
}

int refusals_add(struct refusals *r, const cJSON *d, bool *out_new,
		 struct err *err)
{
	struct str kind = member_text(d, "kind");
	const cJSON *rule = cJSON_GetObjectItemCaseSensitive(d, "rule");
	struct entry now = {.path = member_text(d, "path")}, *found;
	uint64_t count = json_find_u64(d, "count", UINT32_MAX);

	if (str_is(kind, "write"))
		now.kind = "write";
	else if (str_is(kind, "read"))
		now.kind = "read";
	if (!now.kind || now.path.n == 0 ||
	    !str_is(member_text(d, "verdict"), "deny") ||
	    !reason_parse(member_text(d, "reason"), &now.reason))
		return err_set(err, -EPROTO,
			       "the view sent a decision that is none");
	found = find_entry(r, &now);
	*out_new = !found && r->entries.n < REFUSALS_ENTRIES_MAX;
	if (*out_new) {
		found = vec_push(r->a, &r->entries);
		*found = now;
		found->path = arena_str(r->a, now.path);
		find_rule(r, rule, found);
		found->by = arena_str(r->a, found->by);
		found->linked =
			str_is(member_text(rule, "section"), VIEW_SAYS_LINKED);
		found->outside =
			str_is(member_text(rule, "section"), VIEW_SAYS_OUTSIDE);
	}
	if (found)
		found->count += count ? count : 1;
	else
		r->beyond += count ? count : 1;
	return 0;
}

/* --- text ----------------------------------------------------------------- */

static bool is_plain(struct str text)
{
	for (size_t i = 0; i < text.n; i++)
		if (!strchr("abcdefghijklmnopqrstuvwxyz"
			    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789./_-+@",
			    text.p[i]))
			return false;
	return text.n > 0;
}

static void print_place(const struct entry *e, struct buf *out)
{
	buf_addf(out, "%s ", e->kind);
	if (str_is(e->path, VIEW_HELLO_OTHERS))
		buf_adds(out, "(other paths)");
	else
		summary_escape(out, e->path, PATH_MAX_SHOWN);
}

/* git's own way is open where writing to the file is not. */
static bool is_git_config(const struct entry *e)
{
	struct str base = e->path;
	size_t at;

	while ((at = str_find(base, '/', 0)) < base.n)
		base = str_slice(base, at + 1, base.n);
	return strcmp(e->kind, "write") == 0 && e->reason == REASON_READONLY &&
	       e->by.n &&
	       (str_is(base, "config") || str_is(base, "config.worktree")) &&
	       memmem(e->path.p, e->path.n, ".git/", 5);
}

/* What decided, and the command that says where it stands and what would let
 * it. */
static void print_why(const struct entry *e, bool with_place, struct buf *out)
{
	static const struct str home = STR_INIT("~/");

	if (e->linked || e->outside) {
		buf_adds(
			out,
			e->outside
				? "of the repository, outside of the workspace"
				: "of the repository, and not for a session to write");
		return;
	}
	if (e->by.n) {
		buf_adds(out, "by '");
		summary_escape(out, e->by, PATH_MAX_SHOWN);
		buf_addc(out, '\'');
		if (e->at.n && with_place) {
			buf_adds(out, " (");
			summary_escape(out, e->at, PATH_MAX_SHOWN);
			buf_addc(out, ')');
		}
	} else {
		buf_adds(out, reason_about(e->reason));
	}
	if (is_plain(e->path))
		buf_addf(out, "; membrane explain %s %.*s", e->kind,
			 STR_ARG(e->path));
	else if (str_starts(e->path, home) &&
		 is_plain(str_slice(e->path, home.n, e->path.n)))
		/* a shell's ~ is another home */
		buf_addf(out, "; membrane explain '%s %.*s'", e->kind,
			 STR_ARG(e->path));
	if (is_git_config(e))
		buf_adds(
			out,
			"; 'git config' and 'git remote' inside can set it, for the session alone");
}

void refusals_newest(const struct refusals *r, struct arena *a,
		     const cJSON *record, struct refusal *out)
{
	const struct entry *e = &r->entries.v[r->entries.n - 1];
	struct buf what, advice, at;

	buf_init(&what, a);
	buf_init(&advice, a);
	buf_init(&at, a);
	print_place(e, &what);
	print_why(e, false, &advice);
	if (e->by.n)
		summary_escape(&at, e->at, PATH_MAX_SHOWN);
	*out = (struct refusal){.reason = e->reason,
				.what = buf_str(&what),
				.advice = buf_str(&advice),
				.at = buf_str(&at),
				.record = record};
}

static int widest_place(const struct refusals *r)
{
	size_t width = 0;
	unsigned lines = 0;

	vec_each(e, &r->entries) {
		struct buf b;

		if (lines++ >= REFUSALS_LINES_MAX)
			break;
		buf_init(&b, r->a);
		print_place(e, &b);
		if (b.n > width && b.n <= WIDTH_MAX)
			width = b.n;
	}
	return (int)width;
}

void refusals_print(const struct refusals *r, const char *log, bool colour,
		    struct buf *out)
{
	const char *bold = colour ? "\033[1m" : "";
	const char *yellow = colour ? "\033[33m" : "";
	const char *off = colour ? "\033[0m" : "";
	uint32_t n = r->entries.n;
	uint64_t more = n > REFUSALS_LINES_MAX ? n - REFUSALS_LINES_MAX : 0;
	int width = widest_place(r);
	unsigned lines = 0;

	if (n == 0)
		return;
	buf_addf(out, "membrane: %u path%s refused\n", n,
		 n == 1 ? " was" : "s were");
	vec_each(e, &r->entries) {
		struct buf place;

		if (lines++ >= REFUSALS_LINES_MAX)
			break;
		buf_init(&place, r->a);
		print_place(e, &place);
		buf_addf(out, "  %s%-*s%s  %llu×  %s%s%s  ", bold, width,
			 place.p, off, (unsigned long long)e->count, yellow,
			 reason_name(e->reason), off);
		print_why(e, true, out);
		buf_addc(out, '\n');
	}
	if (more || r->beyond)
		buf_addf(out, "  and %s%llu more: %s\n",
			 r->beyond ? "at least " : "",
			 (unsigned long long)(more ? more : 1), log);
}

cJSON *refusals_json(const struct refusals *r)
{
	cJSON *list = cJSON_CreateArray();

	vec_each(e, &r->entries) {
		cJSON *o = cJSON_CreateObject();
		struct str source;
		uint64_t line;

		cJSON_AddStringToObject(o, "kind", e->kind);
		cJSON_AddStringToObject(o, "path", arena_cstr(r->a, e->path));
		cJSON_AddStringToObject(o, "reason", reason_name(e->reason));
		if (e->by.n)
			cJSON_AddStringToObject(o, "by",
						arena_cstr(r->a, e->by));
		if (e->at.n)
			cJSON_AddStringToObject(o, "at",
						arena_cstr(r->a, e->at));
		if (written_split(e->at, &source, &line)) {
			json_put_str(o, "source", source);
			json_put_u64(o, "line", line);
		}
		cJSON_AddNumberToObject(o, "count", (double)e->count);
		cJSON_AddItemToArray(list, o);
	}
	return list;
}
