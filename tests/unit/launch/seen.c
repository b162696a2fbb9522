/* What a watch tells of a Pod, and what is made of it. */
#include "runtime/launch/kubernetes/seen.h"

#include "tests/check.h"

static void take(struct seen *s, const char *text)
{
	cJSON *o = cJSON_Parse(text);

	CHECK(o != NULL);
	seen_take(s, o);
	cJSON_Delete(o);
}

static void take_pod(struct seen *s, const char *status)
{
	char text[2048];

	snprintf(text, sizeof(text),
		 "{\"type\":\"MODIFIED\",\"object\":{\"kind\":\"Pod\","
		 "\"metadata\":{},\"status\":%s}}",
		 status);
	take(s, text);
}

/* --- from the first word to the last -------------------------------------- */

#define PLACED                                                                 \
	"\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"True\"}]"
#define GATE(state)                                                            \
	"\"initContainerStatuses\":[{\"name\":\"gate\",\"state\":{" state "}}]"
#define AGENT(state)                                                           \
	"\"containerStatuses\":[{\"name\":\"agent\",\"state\":{" state "}}]"

static void check_waits_for(void)
{
	struct seen s = {0};

	CHECK(str_is(str_of(seen_waits_for(&s)), "making the Pod"));
	take_pod(&s, "{\"conditions\":[{\"type\":\"PodScheduled\","
		     "\"status\":\"False\",\"message\":\"no room\\nat all\"}]}");
	CHECK(s.known && !s.placed && !s.gone && !s.deleting);
	CHECK(str_is(str_of(s.text), "no room at all"));
	CHECK(str_is(str_of(seen_waits_for(&s)), "the Pod waits for a node"));
	take_pod(&s, "{" PLACED "}");
	CHECK(s.placed && s.text[0] == '\0');
	CHECK(s.of[SEEN_GATE].state == SEEN_NOTHING);
	CHECK(str_is(str_of(seen_waits_for(&s)),
		     "the Pod's containers are made"));
	take_pod(&s, "{" PLACED "," GATE("\"running\":{}") "}");
	CHECK(s.of[SEEN_GATE].state == SEEN_RUNS);
	CHECK(str_is(str_of(seen_waits_for(&s)), "starting the gate"));
	take_pod(&s, "{" PLACED ",\"initContainerStatuses\":["
		     "{\"name\":\"other\",\"state\":{\"running\":{}}},"
		     "{\"name\":\"workspace\",\"state\":{\"running\":{}}}]}");
	CHECK(str_is(str_of(seen_waits_for(&s)), "the workspace is cloned"));
}

static void check_end(void)
{
	struct seen s = {0};

	take_pod(&s, "{" AGENT("\"terminated\":{\"exitCode\":7,\"reason\":"
			       "\"Error\",\"message\":\"why\"}") "}");
	CHECK(s.of[SEEN_AGENT].state == SEEN_ENDED);
	CHECK(s.of[SEEN_AGENT].status == 7);
	CHECK(str_is(str_of(s.of[SEEN_AGENT].reason), "Error"));
	CHECK(str_is(str_of(s.of[SEEN_AGENT].text), "why"));
	take(&s, "{\"type\":\"MODIFIED\",\"object\":{\"kind\":\"Pod\","
		 "\"metadata\":{\"deletionTimestamp\":\"now\"}}}");
	CHECK(s.deleting && !s.gone);
	/* the watch's own end is none of the Pod's */
	take(&s, "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\"}}");
	CHECK(s.deleting && !s.gone);
	take(&s, "{\"type\":\"DELETED\",\"object\":{\"kind\":\"Pod\"}}");
	CHECK(s.gone);
}

/* A status that cannot be one is not that of a success. */
static void check_status_of(void)
{
	static const char *const odd[] = {"{}", "{\"exitCode\":256}",
					  "{\"exitCode\":-1}",
					  "{\"exitCode\":\"0\"}"};
	char text[256];

	for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
		struct seen s = {0};

		snprintf(text, sizeof(text),
			 "{\"containerStatuses\":[{\"name\":\"agent\","
			 "\"state\":{\"terminated\":%s}}]}",
			 odd[i]);
		take_pod(&s, text);
		CHECK_MSG(s.of[SEEN_AGENT].state == SEEN_ENDED &&
				  s.of[SEEN_AGENT].status == 255,
			  "%s: %d", odd[i], s.of[SEEN_AGENT].status);
	}
}

/* It runs, and is not the one that took the wire. */
static void check_started_again(void)
{
	struct seen s = {0};

	take_pod(&s,
		 "{\"containerStatuses\":[{\"name\":\"gate\",\"state\":"
		 "{\"running\":{}},\"lastState\":{\"terminated\":"
		 "{\"exitCode\":137}}}]}");
	CHECK(s.of[SEEN_GATE].state == SEEN_ENDED);
	CHECK(s.of[SEEN_GATE].status == 137);
}

static void check_cut(void)
{
	static const char begin[] = "{\"containerStatuses\":[{\"name\":\"agent\","
				    "\"state\":{\"waiting\":{\"message\":\"";
	char text[2048];
	struct seen s = {0};

	memcpy(text, begin, sizeof(begin) - 1);
	memset(text + sizeof(begin) - 1, 'a', 1000);
	strcpy(text + sizeof(begin) - 1 + 1000, "\"}}}]}");
	take_pod(&s, text);
	CHECK(strlen(s.of[SEEN_AGENT].text) == SEEN_TEXT_MAX - 1);
	CHECK(s.of[SEEN_AGENT].state == SEEN_WAITS);
}

/* --- what is the end ------------------------------------------------------- */

static const struct {
	const char *status;
	const char *says; /* NULL: it may still begin */
} hopes[] = {
	{"{" AGENT("\"waiting\":{\"reason\":\"ContainerCreating\"}") "}", NULL},
	{"{" AGENT("\"waiting\":{\"reason\":\"PodInitializing\"}") "}", NULL},
	{"{" AGENT("\"waiting\":{\"reason\":\"ImagePullBackOff\","
		   "\"message\":\"none\"}") "}",
	 "agent: ImagePullBackOff: none"},
	{"{" GATE("\"waiting\":{\"reason\":\"CreateContainerError\","
		  "\"message\":\"a\\nb\"}") "}",
	 "gate: CreateContainerError: a b"},
	{"{" AGENT("\"running\":{\"reason\":\"ErrImagePull\"}") "}", NULL},
	{"{\"phase\":\"Failed\",\"reason\":\"Evicted\",\"message\":\"full\"}",
	 "Evicted: full"},
	{"{\"phase\":\"Failed\"}", NULL}, /* a container's end says more */
	{"{\"phase\":\"Failed\",\"reason\":\"Evicted\"," AGENT(
		 "\"terminated\":{\"exitCode\":1}") "}",
	 NULL},
};

static void check_hopes(void)
{
	for (size_t i = 0; i < ARRAY_LEN(hopes); i++) {
		char text[SEEN_TEXT_MAX] = "";
		struct seen s = {0};
		bool is_so;

		take_pod(&s, hopes[i].status);
		is_so = seen_hopeless(&s, text);
		CHECK_MSG(is_so == (hopes[i].says != NULL), "%s: %s",
			  hopes[i].status, text);
		CHECK_MSG(!is_so || strcmp(text, hopes[i].says) == 0, "%s: %s",
			  hopes[i].status, text);
	}
}

/* --- events ---------------------------------------------------------------- */

static const struct {
	const char *type, *reason, *message;
	enum seen_news news;
} events[] = {
	{"Normal", "Scheduled", "to a node", SEEN_USUAL},
	{"Warning", "BackOff", "again", SEEN_USUAL},
	{"Warning", "FailedScheduling", "no room", SEEN_TROUBLE},
	{"Warning", "FailedMount", "timed out", SEEN_TROUBLE},
	{"Warning", "FailedMount", "secret \"a\" not found", SEEN_HOPELESS},
	{"Warning", "FailedMount",
	 "references non-existent secret key: key", SEEN_HOPELESS},
	{"Warning", "FailedMount", "configmap \"a\" not found", SEEN_TROUBLE},
	{"Warning", "Other", "secret \"a\" not found", SEEN_TROUBLE},
};

static void check_events(void)
{
	for (size_t i = 0; i < ARRAY_LEN(events); i++) {
		cJSON *event = json_object(), *o = json_object();
		char text[SEEN_TEXT_MAX] = "";

		json_put_cstr(o, "type", events[i].type);
		json_put_cstr(o, "reason", events[i].reason);
		json_put_cstr(o, "message", events[i].message);
		json_put(event, "object", o);
		CHECK_MSG(seen_event(event, text) == events[i].news, "%s: %s",
			  events[i].reason, events[i].message);
		CHECK(str_is(str_of(text), events[i].news == SEEN_USUAL
						   ? ""
						   : events[i].message));
		cJSON_Delete(event);
	}
}

int main(void)
{
	check_waits_for();
	check_end();
	check_status_of();
	check_started_again();
	check_cut();
	check_hopes();
	check_events();
	return check_status();
}
