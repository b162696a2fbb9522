#include "runtime/view/record.h"

#include "compiler/base/hash.h"
#include "compiler/base/reason.h"
#include "compiler/base/sys/clock.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SLOTS (VIEW_HELLO_PAIRS_MAX * 2)
/* A byte is six characters at most (\u00XX), and there are some more members.
 */
#define PATH_MAX_TOLD 600u

static const char *section_name(enum judge_section s)
{
	switch (s) {
	case JUDGE_BY_NOTHING:
		break;
	case JUDGE_BY_IGNORE:
		return VIEW_SAYS_IGNORE;
	case JUDGE_BY_READONLY:
		return VIEW_SAYS_IS_READONLY;
	case JUDGE_BY_HOLD:
		return VIEW_SAYS_HOLD;
	case JUDGE_BY_PROTECT:
		return VIEW_SAYS_PROTECT;
	case JUDGE_BY_GIT:
		return VIEW_SAYS_GIT;
	case JUDGE_BY_LINKED:
		return VIEW_SAYS_LINKED;
	case JUDGE_BY_HIDE:
		return VIEW_SAYS_HIDE;
	case JUDGE_BY_OUTSIDE:
		return VIEW_SAYS_OUTSIDE;
	case JUDGE_BY_INODE:
		return VIEW_SAYS_INODE;
	case JUDGE_BY_ALL:
		return VIEW_SAYS_ALL;
	}
	return "?";
}

/* --- a line --------------------------------------------------------------- */

const char *record_place(const char *path)
{
	static const char beside[] = VIEW_HELLO_BESIDE "/";

	return strncmp(path, beside, sizeof(beside) - 1) == 0
		       ? path + sizeof(beside) - 1
		       : path;
}

void record_path(const char *path, char *out, size_t size)
{
	static const char unknown[] = "\xef\xbf\xbd";
	struct str s = str_of(path);
	size_t n = 0;

	for (size_t i = 0; i < s.n;) {
		size_t len = str_utf8(s, i);
		size_t more = len ? len : sizeof(unknown) - 1;

		if (n + more + sizeof(VIEW_HELLO_OTHERS) > size) {
			memcpy(out + n, VIEW_HELLO_OTHERS,
			       sizeof(VIEW_HELLO_OTHERS) - 1);
			n += sizeof(VIEW_HELLO_OTHERS) - 1;
			break;
		}
		memcpy(out + n, len ? s.p + i : unknown, more);
		n += more;
		i += len ? len : 1;
	}
	out[n] = '\0';
}

static bool put_rule(cJSON *o, const struct judge_word *w)
{
	cJSON *rule = cJSON_AddObjectToObject(o, "rule");
	bool has_line = w->section != JUDGE_BY_INODE &&
			w->section != JUDGE_BY_OUTSIDE &&
			w->section != JUDGE_BY_ALL;

	return rule &&
	       cJSON_AddStringToObject(rule, "section",
				       section_name(w->section)) &&
	       (!has_line || cJSON_AddNumberToObject(rule, "line", w->line));
}

static enum reason reason_of(enum judge_state s)
{
	switch (s) {
	case JUDGE_HIDDEN:
		return REASON_IGNORED;
	case JUDGE_PROTECTED:
		return REASON_PROTECTED;
	case JUDGE_OPEN:
	case JUDGE_READONLY:
		break;
	}
	return REASON_READONLY;
}

size_t record_line(const struct record_entry *e, char *buf, size_t size)
{
	char path[PATH_MAX_TOLD], when[CLOCK_TEXT_MAX];
	enum reason reason = reason_of(e->word.state);
	cJSON *o = cJSON_CreateObject();
	size_t n = 0;

	record_path(e->path, path, sizeof(path));
	if (cJSON_AddStringToObject(o, VIEW_SAYS_EVENT, VIEW_SAYS_DECISION) &&
	    cJSON_AddStringToObject(o, "time", clock_text(&e->last, when)) &&
	    cJSON_AddStringToObject(
		    o, "kind", e->kind == RECORD_READ ? "read" : "write") &&
	    cJSON_AddStringToObject(o, "verdict", "deny") &&
	    cJSON_AddStringToObject(o, "reason", reason_name(reason)) &&
	    cJSON_AddStringToObject(o, "path", path) && put_rule(o, &e->word) &&
	    cJSON_AddNumberToObject(o, "count", (double)e->count) &&
	    cJSON_PrintPreallocated(o, buf, (int)size - 1, false)) {
		n = strlen(buf);
		buf[n++] = '\n';
	}
	cJSON_Delete(o);
	return n;
}

/* --- telling -------------------------------------------------------------- */

/* False: not now. */
static bool tell_entry(struct record *r, struct record_entry *e, int64_t now_ms)
{
	char line[RECORD_LINE_MAX];
	size_t n = record_line(e, line, sizeof(line));

	if (n == 0 || write(r->fd, line, n) != (ssize_t)n)
		return false;
	e->count = 0;
	e->told_ms = now_ms;
	return true;
}

static void settle_entry(struct record *r, struct record_entry *e,
			 int64_t now_ms, bool all, int *wait_ms)
{
	int64_t due_ms = e->told_ms + RECORD_EVERY_MS;

	if (e->count == 0)
		return;
	if ((all || due_ms <= now_ms) && tell_entry(r, e, now_ms)) {
		r->waiting--;
		return;
	}
	if (due_ms < now_ms)
		due_ms = now_ms + RECORD_EVERY_MS;
	if (*wait_ms < 0 || due_ms - now_ms < *wait_ms)
		*wait_ms = (int)(due_ms - now_ms);
}

int record_tell(struct record *r, bool all)
{
	int64_t now_ms = clock_ms();
	int wait_ms = -1;

	if (r->waiting == 0)
		return -1;
	for (uint32_t i = 0; i < SLOTS; i++)
		settle_entry(r, &r->entries[i], now_ms, all, &wait_ms);
	for (uint32_t i = 0; i < ARRAY_LEN(r->others); i++)
		settle_entry(r, &r->others[i], now_ms, all, &wait_ms);
	return wait_ms;
}

static struct record_entry *find_entry(struct record *r, enum record_kind kind,
				       struct judge_word word, const char *path)
{
	uint32_t i = hash_mixed(hash_str(str_of(path)) + kind) % SLOTS;
	struct record_entry *other = &r->others[kind];

	while (r->entries[i].path && !(r->entries[i].kind == kind &&
				       strcmp(r->entries[i].path, path) == 0))
		i = (i + 1) % SLOTS;
	if (r->entries[i].path)
		return &r->entries[i];
	if (r->n < VIEW_HELLO_PAIRS_MAX)
		r->entries[i].path = strdup(path);
	if (r->entries[i].path) {
		r->n++;
		r->entries[i].kind = kind;
		r->entries[i].word = word;
		r->entries[i].told_ms = clock_ms() - RECORD_EVERY_MS;
		return &r->entries[i];
	}
	if (!other->path)
		*other = (struct record_entry){
			.path = strdup(VIEW_HELLO_OTHERS), .kind = kind};
	other->word = word;
	return other->path ? other : NULL;
}

void record_refusal(struct record *r, enum record_kind kind,
		    struct judge_word word, const char *path)
{
	struct record_entry *e = find_entry(r, kind, word, path);
	uint64_t one = 1;
	int64_t now_ms;

	if (!e)
		return;
	clock_gettime(CLOCK_REALTIME, &e->last);
	if (e->count++)
		return;
	now_ms = clock_ms();
	if (e->told_ms + RECORD_EVERY_MS <= now_ms && tell_entry(r, e, now_ms))
		return;
	if (r->waiting++ == 0)
		ignore(write(r->wake, &one, sizeof(one)));
}

void record_done(struct record *r)
{
	for (uint32_t i = 0; i < SLOTS; i++)
		free(r->entries[i].path);
	for (uint32_t i = 0; i < ARRAY_LEN(r->others); i++)
		free(r->others[i].path);
}
