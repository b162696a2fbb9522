/* What is made of Tracee's output: words, whose a record is, members. */
#include "runtime/launch/tracer/tracee.h"

#include "compiler/base/buf.h"
#include "runtime/launch/tracer/tracer.h"
#include "tests/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define AGENT "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define OTHER "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"

/* As Go prints it, cut down to what is looked at and what is around that. */
#define RECORD(id, name, args)                                                 \
	"{\"timestamp\":1705501353021643058,\"processId\":15,"                 \
	"\"containerId\":\"" id                                                \
	"\",\"container\":{},\"eventId\":\"715\",\"eventName\":\"" name        \
	"\",\"args\":[" args "]}"
#define LOG(level, message, more)                                              \
	"{\"L\":\"" level                                                      \
	"\",\"T\":\"2024-01-17T14:22:33.000Z\",\"M\":\"" message "\"" more "}"

static struct arena *a;
static struct buf text;

static int unpack(void *ctx, struct str member, struct err *err)
{
	static unsigned char room[8 << 20];
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

static struct tracee *new_tracee(void *ctx)
{
	cJSON *plan = cJSON_Parse("{\"tracee\":\"0.24.1\"}");
	struct tracee *t = NULL;
	struct err err;

	buf_init(&text, a);
	CHECK(tracee_new(a, plan, unpack, ctx, &t, &err) == 0);
	cJSON_Delete(plan);
	return t;
}

static int put(struct tracee *t, const char *s)
{
	struct err err;

	return tracee_output(t, str_of(s), &err);
}

static size_t lines_with(const char *word)
{
	struct str rest = buf_str(&text), line;
	size_t n = 0;

	while (str_line(&rest, &line))
		n += memmem(line.p, line.n, word, strlen(word)) != NULL;
	return n;
}

static void records(void)
{
	struct tracee *t = new_tracee(NULL);
	struct err err;

	/* known only after its first records */
	CHECK(put(t, RECORD(AGENT, "first", "") "\n") == 0);
	CHECK(put(t, RECORD(OTHER, "other", "") "\n") == 0);
	CHECK(t->events == 0 && t->others == 0);
	CHECK(tracee_agent(t, AGENT, &err) == 0);
	CHECK(t->events == 1 && t->others == 1);
	CHECK(tracee_agent(t, OTHER, &err) == 0);
	/* in pieces, as a pipe gives them */
	for (const char *p =
		     RECORD(AGENT, "then", "") "\n" RECORD(OTHER, "x", "") "\n";
	     *p; p++)
		CHECK(put(t, (char[]){*p, '\0'}) == 0);
	CHECK(t->events == 2 && t->others == 2 && t->n == 0);
	CHECK(put(t, "{\"half\":") == 0);
	CHECK(tracee_end(t, &err) == 0 && t->broken == 1);
	CHECK(lines_with("\"first\"") == 1 && lines_with("\"then\"") == 1);
	CHECK(lines_with(OTHER) == 0);
	CHECK(lines_with("\"membrane_end\"") == 1);
	CHECK(lines_with("{\"name\":\"lost\",\"type\":\"uint64\","
			 "\"value\":1}") == 1);
	tracee_free(t);
	/* nobody ever said who the agent is: the records are nobody's */
	t = new_tracee(NULL);
	CHECK(put(t, RECORD(AGENT, "first", "") "\n") == 0);
	CHECK(tracee_end(t, &err) == 0);
	CHECK(t->events == 0 && t->broken == 0 && lines_with("first") == 0);
	tracee_free(t);
}

/* What is no record, or another's with the agent's name in it. */
static void strangers(void)
{
	static const char *const broken[] = {
		"no record",
		"{\"half\":",
		"[]",
		"{}",
		"{\"containerId\":1}",
		RECORD(AGENT, "x", "") " ",
		RECORD(AGENT, "x", "") RECORD(AGENT, "y", ""),
		"",
	};
	struct tracee *t = new_tracee(NULL);
	struct err err;

	CHECK(tracee_agent(t, AGENT, &err) == 0);
	for (size_t i = 0; i < sizeof(broken) / sizeof(*broken); i++) {
		CHECK(put(t, broken[i]) == 0 && put(t, "\n") == 0);
		CHECK(t->broken == i + 1);
	}
	CHECK(put(t, RECORD(OTHER, "x",
			    "{\"name\":\"argv\",\"value\":\"\\\"containerId"
			    "\\\":\\\"" AGENT "\\\"\"}") "\n") == 0);
	CHECK(put(t, RECORD(OTHER, "x",
			    "{\"containerId\":\"" AGENT "\"}") "\n") == 0);
	CHECK(put(t, RECORD("", "init_namespaces", "") "\n") == 0);
	CHECK(t->others == 3 && t->events == 0 && text.n == 0);
	tracee_free(t);
}

static void bounds(void)
{
	struct tracee *t = new_tracee(NULL);
	char *big = malloc(TRACEE_ROOM + 1);
	struct err err;

	memset(big, 'x', TRACEE_ROOM);
	big[TRACEE_ROOM] = '\0';
	CHECK(put(t, big) == 0);
	CHECK(put(t, "\n") == -ENOBUFS);
	tracee_free(t);
	free(big);
	/* a full disk is the writer's to say */
	t = new_tracee(&text);
	CHECK(tracee_agent(t, AGENT, &err) == 0);
	CHECK(put(t, RECORD(AGENT, "x", "") "\n") == -ENOSPC);
	tracee_free(t);
}

static void hear(struct tracee *t, struct err *why, const char *line)
{
	struct err err;

	CHECK(tracee_said(t, str_of(line), why, &err) == 0);
}

static void words(void)
{
	struct tracee *t = new_tracee(NULL);
	struct err why = {0};

	hear(t, &why, LOG("DEBUG", "Tracee is starting", ""));
	CHECK(!t->is_ready);
	hear(t, &why, LOG("DEBUG", "Tracee is ready callback", ""));
	hear(t, &why, LOG("DEBUG", "Tracee is ready callback", ""));
	CHECK(t->is_ready && lines_with("\"membrane_start\"") == 1);
	CHECK(lines_with("\"0.24.1\"") == 1);
	/* at another level the members have other names */
	hear(t, &why,
	     "{\"level\":\"warn\",\"ts\":1.5,\"msg\":\"Lost 17 "
	     "events\"}");
	hear(t, &why, LOG("WARN", "Lost 3 events", ""));
	hear(t, &why, LOG("WARN", "Lost 2 control plane signals", ""));
	hear(t, &why, LOG("WARN", "Lost our events", ""));
	hear(t, &why, LOG("WARN", "Lost  events", ""));
	hear(t, &why, LOG("WARN", "Lost events", ""));
	CHECK(t->lost == 20);
	hear(t, &why, "  ");
	hear(t, &why, LOG("ERROR", "it goes on", ""));
	CHECK(why.code == 0);
	hear(t, &why,
	     LOG("FATAL", "Tracee runner failed",
		 ",\"error\":\"a\\u001b[31m\""));
	hear(t, &why, "Error: unknown flag: --containers");
	CHECK(strcmp(why.text, "Tracee runner failed: a [31m") == 0);
	why = (struct err){0};
	hear(t, &why, " Error: unknown flag: --containers");
	CHECK(strcmp(why.text, "Error: unknown flag: --containers") == 0);
	tracee_free(t);
}

static int release(const char *said)
{
	struct err err;

	return tracer_check_release(STR("{\"tracee\":\"0.24.1\"}"), said, &err);
}

static void releases(void)
{
	struct err err;

	CHECK(release("Tracee version: v0.24.1") == 0);
	CHECK(release("Tracee version: 0.24.1") == 0);
	CHECK(release("v0.24.1") == 0);
	CHECK(release("Tracee version: v0.24.10") == -EPROTO);
	CHECK(release("Tracee version: v0.24.1-rc") == -EPROTO);
	CHECK(release("Tracee version: ") == -EPROTO);
	CHECK(release("") == -EPROTO);
	CHECK(tracer_check_release(STR("{}"), "v0.24.1", &err) == -EPROTO);
}

int main(void)
{
	a = arena_new();
	records();
	strangers();
	bounds();
	words();
	releases();
	arena_free(a);
	return check_status();
}
