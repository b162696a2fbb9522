/* What is made of Tracee's output: words, whose a record is, members. */
#include "runtime/launch/tracer/tracee.h"

#include "runtime/launch/tracer/tracee_log.h"
#include "runtime/launch/tracer/tracer.h"
#include "tests/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define AGENT "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define INNER "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define OTHER "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"

/* As Go prints it, cut down to what is looked at and what is around that. */
#define RECORD(cgroup, id, name, args)                                         \
	"{\"timestamp\":1705501353021643058,\"processId\":15,"                 \
	"\"cgroupId\":" cgroup                                                 \
	",\"hostProcessId\":858439,\"hostName\":\"x\",\"containerId\":"        \
	"\"" id                                                                \
	"\",\"container\":{},\"eventId\":\"715\",\"eventName\":\"" name        \
	"\",\"args\":[" args "]}"
#define ARG(name, value)                                                       \
	"{\"name\":\"" name "\",\"type\":\"x\",\"value\":" value "}"
#define MKDIR(by, number, path)                                                \
	RECORD("5", by, "cgroup_mkdir",                                        \
	       ARG("cgroup_id", number) "," ARG("cgroup_path",                 \
						"\"" path "\""))

static struct arena *a;

/* --- words ---------------------------------------------------------------- */

static enum tracee_said said(const char *line, const char *text, uint64_t n)
{
	struct tracee_words w;

	tracee_log_read(str_of(line), &w);
	if (text && strcmp(w.text, text) != 0)
		printf("said '%s'\n", w.text);
	CHECK(!text || strcmp(w.text, text) == 0);
	CHECK(w.n == n);
	return w.said;
}

static void words(void)
{
	CHECK(said("{\"L\":\"DEBUG\",\"T\":\"2024-01-17T14:22:33.000Z\",\"M\":"
		   "\"Tracee is ready callback\"}",
		   "", 0) == TRACEE_SAID_READY);
	/* at another level the members have other names */
	CHECK(said("{\"level\":\"warn\",\"ts\":1.5,\"msg\":\"Lost 17 events\"}",
		   "", 17) == TRACEE_SAID_LOST);
	CHECK(said("{\"L\":\"WARN\",\"M\":\"Lost 0 events\"}", "", 0) ==
	      TRACEE_SAID_NOTHING);
	CHECK(said("{\"L\":\"WARN\",\"M\":\"Lost 2 control plane signals\"}",
		   "Lost 2 control plane signals", 2) == TRACEE_SAID_ERROR);
	CHECK(said("{\"L\":\"WARN\",\"M\":\"Lost our way\"}", "", 0) ==
	      TRACEE_SAID_NOTHING);
	CHECK(said("{\"L\":\"WARN\",\"M\":\"Cancelling event and its "
		   "dependencies because of a missing probe\",\"missing probe\""
		   ":12,\"event\":\"security_file_open\"}",
		   "security_file_open", 0) == TRACEE_SAID_WITHOUT);
	CHECK(said("{\"L\":\"DEBUG\",\"M\":\"Event canceled because of missing "
		   "kernel symbol dependency\",\"event\":\"hooked_syscall\"}",
		   "hooked_syscall", 0) == TRACEE_SAID_WITHOUT);
	CHECK(said("{\"L\":\"DEBUG\",\"M\":\"All fallbacks failed, removing "
		   "event\",\"event\":\"bpf_attach\"}",
		   "bpf_attach", 0) == TRACEE_SAID_WITHOUT);
	CHECK(said("{\"L\":\"DEBUG\",\"M\":\"Successfully switched to fallback"
		   "\",\"event\":\"bpf_attach\",\"fallback_index\":1}",
		   "bpf_attach", 0) == TRACEE_SAID_AGAIN);
	/* a probe that is not required costs no event */
	CHECK(said("{\"L\":\"DEBUG\",\"M\":\"Failed to attach non-required "
		   "probe for event\",\"event\":\"sched_process_exec\"}",
		   "", 0) == TRACEE_SAID_NOTHING);
	CHECK(said("{\"L\":\"ERROR\",\"M\":\"Tracee encountered an error\","
		   "\"error\":\"a\\nb\"}",
		   "Tracee encountered an error: a b", 0) == TRACEE_SAID_ERROR);
	CHECK(said("{\"L\":\"FATAL\",\"M\":\"Tracee runner failed\",\"error\":"
		   "\"x\"}",
		   "Tracee runner failed: x", 0) == TRACEE_SAID_FATAL);
	CHECK(said("Error: unknown flag: --containers",
		   "Error: unknown flag: --containers",
		   0) == TRACEE_SAID_WORDS);
	CHECK(said("  ", "", 0) == TRACEE_SAID_NOTHING);
	CHECK(said("[1]", "[1]", 0) == TRACEE_SAID_WORDS);
}

/* --- whose ---------------------------------------------------------------- */

static void ids(void)
{
	CHECK(str_is(tracee_scope_id(STR("/docker/" AGENT)), AGENT));
	CHECK(str_is(
		tracee_scope_id(STR("/system.slice/docker-" AGENT ".scope")),
		AGENT));
	CHECK(str_is(tracee_scope_id(STR("/docker/" AGENT "/docker/" INNER
					 "/init.scope")),
		     INNER));
	CHECK(str_is(tracee_scope_id(STR("/x.slice:cri-containerd:" INNER)),
		     INNER));
	CHECK(tracee_scope_id(STR("/docker/" AGENT "0")).n == 0);
	CHECK(tracee_scope_id(STR("")).n == 0);
}

static enum tracee_whose whose(struct tracee_scope *s, const char *line,
			       int64_t now_ms)
{
	return tracee_scope_read(s, str_of(line), now_ms).whose;
}

static void scope(void)
{
	struct tracee_scope *s = arena_new_of(a, struct tracee_scope);
	const char *agent = RECORD("5", AGENT, "openat", "");
	const char *inner = RECORD("777", INNER, "openat", "");
	const char *other = RECORD("9", OTHER, "openat", "");

	CHECK(whose(s, agent, 0) == TRACEE_UNKNOWN);
	CHECK(whose(s, agent, 100000) == TRACEE_UNKNOWN);
	tracee_scope_agent(s, STR("short"));
	CHECK(!s->has_agent);
	tracee_scope_agent(s, STR(AGENT));
	CHECK(whose(s, agent, 100001) == TRACEE_OURS);
	CHECK(whose(s, inner, 100001) == TRACEE_UNKNOWN);
	CHECK(whose(s, other, 100001) == TRACEE_UNKNOWN);
	CHECK(whose(s, MKDIR(AGENT, "777", "/docker/" AGENT "/docker/" INNER),
		    100002) == TRACEE_OURS);
	CHECK(whose(s, inner, 100003) == TRACEE_OURS);
	/* within it, once more */
	CHECK(whose(s, RECORD("778", OTHER, "openat", ""), 100003) ==
	      TRACEE_UNKNOWN);
	CHECK(whose(s,
		    RECORD("777", INNER, "cgroup_mkdir",
			   ARG("cgroup_id", "778") "," ARG(
				   "cgroup_path",
				   "\"/docker/" AGENT "/docker/" INNER
				   "/docker/" OTHER "\"")),
		    100004) == TRACEE_OURS);
	CHECK(whose(s, RECORD("778", OTHER, "openat", ""), 100005) ==
	      TRACEE_OURS);
	/* the name of a cgroup is anybody's choice, its number is not */
	CHECK(whose(s, other, 100005) == TRACEE_UNKNOWN);
	CHECK(whose(s, other, 100001 + TRACEE_UNKNOWN_MS) == TRACEE_OTHERS);
	/* who is not ours makes nobody ours */
	CHECK(whose(s, MKDIR(OTHER, "9", "/docker/" OTHER), 200000) ==
	      TRACEE_UNKNOWN);
	CHECK(whose(s, other, 200000) == TRACEE_OTHERS);
	CHECK(whose(s, RECORD("1", "", "openat", ""), 200000) ==
	      TRACEE_NOBODYS);
}

static void whole_lines(void)
{
	struct tracee_scope *s = arena_new_of(a, struct tracee_scope);
	const char *line =
		RECORD("9", OTHER, "openat",
		       ARG("x", "\"\\\"containerId\\\":\\\"" AGENT "\\\"}\""));

	tracee_scope_agent(s, STR(AGENT));
	/* what a program is called with is no member */
	CHECK(whose(s, line, 0) == TRACEE_UNKNOWN);
	for (size_t n = 0; n < strlen(line); n++)
		CHECK(tracee_scope_read(s, (struct str){line, n}, 0).whose ==
		      TRACEE_BROKEN);
	CHECK(whose(s, arena_fmt(a, "%s ", line).p, 0) == TRACEE_BROKEN);
	CHECK(whose(s, arena_fmt(a, "%s%s", line, line).p, 0) == TRACEE_BROKEN);
	CHECK(whose(s, arena_fmt(a, "x%s", line).p, 0) == TRACEE_BROKEN);
	CHECK(whose(s, "{}", 0) == TRACEE_BROKEN);
	CHECK(whose(s, "{]", 0) == TRACEE_BROKEN);
	CHECK(whose(s, "", 0) == TRACEE_BROKEN);
	CHECK(whose(s, RECORD("-1", AGENT, "openat", ""), 0) == TRACEE_BROKEN);
	CHECK(whose(s, RECORD("9", AGENT, "o\tpen", ""), 0) == TRACEE_BROKEN);
	CHECK(whose(s, RECORD("\"9\"", AGENT, "openat", ""), 0) ==
	      TRACEE_BROKEN);
	CHECK(whose(s, RECORD("18446744073709551616", AGENT, "openat", ""),
		    0) == TRACEE_BROKEN);
	CHECK(whose(s, RECORD("9", AGENT, "openat", "1,"), 0) == TRACEE_BROKEN);
	CHECK(whose(s, RECORD("18446744073709551615", AGENT, "openat", ""),
		    0) == TRACEE_OURS);
	/* nor is what stands within one */
	CHECK(whose(s,
		    RECORD("9", OTHER, "openat",
			   "{\"containerId\":\"" AGENT "\"}"),
		    0) == TRACEE_UNKNOWN);
	CHECK(whose(s,
		    "{\"args\":{\"containerId\":\"" AGENT "\",\"cgroupId\":9,"
		    "\"eventName\":\"openat\"}}",
		    0) == TRACEE_BROKEN);
}

static void names(void)
{
	struct tracee_scope *s = arena_new_of(a, struct tracee_scope);
	char name[TRACEE_NAME_MAX + 1] = "";
	struct tracee_record r;

	r = tracee_scope_read(
		s,
		STR("{\"hostProcessId\":0,\"eventName\":\"init_namespaces\","
		    "\"containerId\":\"\",\"cgroupId\":0}"),
		0);
	CHECK(r.whose == TRACEE_NOBODYS && r.of_itself);
	CHECK(strcmp(r.name, "init_namespaces") == 0);
	memset(name, 'n', TRACEE_NAME_MAX - 1);
	r = tracee_scope_read(s, arena_fmt(a, RECORD("9", "", "%s", ""), name),
			      0);
	CHECK(r.whose == TRACEE_NOBODYS && !r.of_itself);
	CHECK(strcmp(r.name, name) == 0);
	/* one that does not fit is no other's */
	name[TRACEE_NAME_MAX - 1] = 'n';
	CHECK(whose(s, arena_fmt(a, RECORD("9", "", "%s", ""), name).p, 0) ==
	      TRACEE_BROKEN);
}

/* More cgroups than are counted: said, and nothing is written past the end. */
static void many_cgroups(void)
{
	struct tracee_scope *s = arena_new_of(a, struct tracee_scope);

	tracee_scope_agent(s, STR(AGENT));
	for (unsigned i = 1; i <= TRACEE_OURS_MAX + 10; i++) {
		struct str line = arena_fmt(
			a,
			RECORD("5", AGENT, "cgroup_mkdir",
			       ARG("cgroup_id", "%u") "," ARG(
				       "cgroup_path", "\"/docker/" INNER "\"")),
			i);

		CHECK(tracee_scope_read(s, line, 0).whose == TRACEE_OURS);
	}
	CHECK(s->is_full && s->n_ours == TRACEE_OURS_MAX);
	CHECK(whose(s, RECORD("1", INNER, "openat", ""), 0) == TRACEE_OURS);
}

/* --- members -------------------------------------------------------------- */

static struct buf text;

static int keep(void *ctx, struct str member, struct err *err)
{
	static unsigned char room[4 << 20];
	z_stream z = {.next_in = (unsigned char *)(uintptr_t)member.p,
		      .avail_in = (uInt)member.n,
		      .next_out = room,
		      .avail_out = sizeof(room)};

	if (ctx)
		return err_set(err, -ENOSPC, "full");
	CHECK(inflateInit2(&z, 15 + 16) == Z_OK);
	CHECK(inflate(&z, Z_FINISH) == Z_STREAM_END && z.avail_in == 0);
	inflateEnd(&z);
	buf_add(&text, (struct str){(char *)room, z.total_out});
	return 0;
}

static struct tracee *begin(void *ctx, const char *events)
{
	cJSON *plan = cJSON_Parse(
		arena_fmt(a, "{\"tracee\":\"0.24.1\",\"events\":[%s]}", events)
			.p);
	struct tracee *t = NULL;
	struct err err;

	buf_init(&text, a);
	CHECK(tracee_new(a, plan, keep, ctx, &t, &err) == 0);
	cJSON_Delete(plan);
	return t;
}

static int put(struct tracee *t, const char *s, int64_t now_ms)
{
	struct err err;

	return tracee_output(t, str_of(s), now_ms, &err);
}

static size_t lines_with(const char *word)
{
	struct str rest = buf_str(&text), line;
	size_t n = 0;

	while (str_line(&rest, &line))
		n += memmem(line.p, line.n, word, strlen(word)) != NULL;
	return n;
}

#define EXEC "{\"name\":\"sched_process_exec\",\"filters\":[]}"

static void stream(void)
{
	struct tracee *t = begin(NULL, EXEC);
	struct err err;
	const char *inner = RECORD("777", INNER, "openat", "") "\n";

	/* known only after its first records */
	CHECK(put(t, RECORD("5", AGENT, "openat", "") "\n", 1) == 0);
	CHECK(put(t, inner, 1) == 0 && t->n.events == 0);
	tracee_agent(t, AGENT);
	CHECK(tracee_tick(t, 200, &err) == 0 && t->n.events == 1);
	/* in pieces, as a pipe gives them */
	for (const char *p = MKDIR(
		     AGENT, "777",
		     "/" AGENT "/docker/" INNER) "\n" RECORD("9", OTHER,
							     "openat", "") "\n";
	     *p; p++)
		CHECK(put(t, (char[]){*p, '\0'}, 300) == 0);
	CHECK(tracee_tick(t, 400, &err) == 0 && t->n.events == 2);
	CHECK(tracee_tick(t, 400 + TRACEE_UNKNOWN_MS, &err) == 0);
	CHECK(t->n.others == 1 && t->pending.n == 0);
	CHECK(put(t, "{\"half\":", 5000) == 0);
	CHECK(tracee_end(t, &err) == 0);
	CHECK(t->n.broken == 1 && tracee_lost(t) == 1);
	CHECK(lines_with("openat") == 2 && lines_with("cgroup_mkdir") == 0);
	CHECK(lines_with("membrane_end") == 1);
	CHECK(lines_with(OTHER) == 0);
	tracee_free(t);
	/* asked for by name, it stays */
	t = begin(NULL, "{\"name\":\"cgroup_mkdir\",\"filters\":[]}");
	tracee_agent(t, AGENT);
	CHECK(put(t, MKDIR(AGENT, "1", "/x") "\n", 1) == 0);
	CHECK(tracee_end(t, &err) == 0 && lines_with("cgroup_mkdir") == 1);
	tracee_free(t);
}

static void bounds(void)
{
	struct tracee *t = begin(NULL, EXEC);
	char *big = malloc(TRACEE_LINE_MAX + 2);
	struct err err;

	memset(big, 'x', TRACEE_LINE_MAX + 1);
	big[TRACEE_LINE_MAX + 1] = '\0';
	CHECK(put(t, big, 1) == 0 && put(t, big, 1) == 0);
	CHECK(put(t, "\n", 1) == 0 && t->n.broken == 1);
	/* nobody says whose these are: each is counted, none is dropped */
	for (unsigned i = 0; i < 2 * TRACEE_PENDING_MAX / 200; i++)
		CHECK(put(t, RECORD("5", AGENT, "openat", "") "\n", 1) == 0);
	CHECK(t->pending.n > 0 && t->pending.n <= TRACEE_PENDING_MAX);
	CHECK(tracee_end(t, &err) == 0);
	CHECK(t->n.unplaced == 2 * TRACEE_PENDING_MAX / 200);
	tracee_free(t);
	/* that it was the agent's is said too late, or that it was not */
	for (int ours = 0; ours < 2; ours++) {
		t = begin(NULL, EXEC);
		for (unsigned i = 0; i < 2 * TRACEE_PENDING_MAX / 200; i++)
			CHECK(put(t, RECORD("5", AGENT, "openat", "") "\n",
				  1) == 0);
		tracee_agent(t, ours ? AGENT : OTHER);
		CHECK(tracee_end(t, &err) == 0);
		CHECK((tracee_lost(t) > 0) == ours);
		CHECK(t->n.events + tracee_lost(t) ==
		      ours * (2 * TRACEE_PENDING_MAX / 200));
		tracee_free(t);
	}
	/* likewise of one within */
	t = begin(NULL, EXEC);
	tracee_agent(t, AGENT);
	for (unsigned i = 0; i < 2 * TRACEE_PENDING_MAX / 200; i++)
		CHECK(put(t, RECORD("777", INNER, "openat", "") "\n", 1) == 0);
	CHECK(put(t, MKDIR(AGENT, "777", "/docker/" INNER) "\n", 2) == 0);
	CHECK(tracee_end(t, &err) == 0 && tracee_lost(t) > 0);
	CHECK(t->n.events + tracee_lost(t) == 2 * TRACEE_PENDING_MAX / 200);
	tracee_free(t);
	free(big);
	/* a full disk is the writer's to say */
	t = begin(&text, EXEC);
	tracee_agent(t, AGENT);
	CHECK(put(t, RECORD("5", AGENT, "openat", "") "\n", 1) == 0);
	CHECK(tracee_tick(t, 1 + TRACEE_BLOCK_MS, &err) == -ENOSPC);
	tracee_free(t);
}

static int hear(struct tracee *t, const char *line)
{
	struct err why = {0}, err;

	return tracee_said(t, str_of(line), &why, &err);
}

static void silence(void)
{
	struct tracee *t = begin(NULL, EXEC);
	struct err err;

	CHECK(hear(t, "{\"L\":\"DEBUG\",\"M\":\"Tracee is ready callback\"}") ==
	      0);
	CHECK(t->is_ready);
	t->agent_ms = 1000;
	tracee_agent(t, AGENT);
	CHECK(tracee_tick(t, 999 + TRACEE_SILENT_MS, &err) == 0);
	CHECK(tracee_tick(t, 1000 + TRACEE_SILENT_MS, &err) == -ETIMEDOUT);
	CHECK(tracee_lacks(a, t).n > 0);
	CHECK(put(t, RECORD("5", AGENT, "openat", "") "\n", 1) == 0);
	CHECK(tracee_tick(t, 1000 + TRACEE_SILENT_MS, &err) == 0);
	CHECK(tracee_lacks(a, t).n == 0);
	CHECK(hear(t, "{\"L\":\"DEBUG\",\"M\":\"Failing event\",\"event\":"
		      "\"a\"}") == 0);
	CHECK(str_is(tracee_lacks(a, t), "Tracee cannot record here: a"));
	CHECK(hear(t, "{\"L\":\"DEBUG\",\"M\":\"Successfully switched to "
		      "fallback\",\"event\":\"a\"}") == 0);
	CHECK(tracee_lacks(a, t).n == 0);
	tracee_free(t);
	/* with a filter on it, there may be none */
	t = begin(NULL,
		  "{\"name\":\"sched_process_exec\",\"filters\":[\"x\"]}");
	t->agent_ms = 1;
	CHECK(tracee_tick(t, 1000000, &err) == 0);
	CHECK(tracee_lacks(a, t).n == 0);
	tracee_free(t);
}

static int release(const char *said_by_it)
{
	struct err err;

	return tracer_check_release(STR("{\"tracee\":\"0.24.1\"}"), said_by_it,
				    &err);
}

static void releases(void)
{
	CHECK(release("Tracee version: v0.24.1") == 0);
	CHECK(release("Tracee version: 0.24.1") == 0);
	CHECK(release("Tracee version: v0.24.10") == -EPROTO);
	CHECK(release("Tracee version: v0.24.1-rc") == -EPROTO);
	CHECK(release("Tracee version: ") == -EPROTO);
	CHECK(release("") == -EPROTO);
}

int main(void)
{
	a = arena_new();
	words();
	ids();
	scope();
	whole_lines();
	names();
	many_cgroups();
	stream();
	bounds();
	silence();
	releases();
	arena_free(a);
	return check_status();
}
