#include "runtime/launch/kubernetes/seen.h"

#include <stdio.h>
#include <string.h>

static const char *const names[SEEN_PARTS] = {"fence", "workspace", "gate",
					      "agent"};

const char *seen_name(enum seen_part part)
{
	return names[part];
}

/* The server's words, on one line. */
static void copy_text(char *out, size_t size, struct str text)
{
	size_t n = text.n < size - 1 ? text.n : size - 1;

	for (size_t i = 0; i < n; i++)
		out[i] = text.p[i] == '\n' ? ' ' : text.p[i];
	out[n] = '\0';
}

static const cJSON *find(const cJSON *o, const char *name)
{
	return cJSON_GetObjectItemCaseSensitive(o, name);
}

/* --- objects, as kubectl prints them --------------------------------------- */

/* One is a line, or several, of which the last begins with the brace: kubectl's
 * versions differ. */
static bool is_last_line(const struct buf *text, struct str line)
{
	if (str_starts(line, STR("}")))
		return true;
	return text->n == 0 && str_starts(line, STR("{")) &&
	       str_ends(line, STR("}"));
}

cJSON *seen_object(struct buf *text, struct str line)
{
	bool is_last = is_last_line(text, line);
	cJSON *o;

	if (text->n + line.n > SEEN_OBJECT_MAX)
		buf_cut(text, 0);
	buf_add(text, line);
	buf_addc(text, ' ');
	if (!is_last)
		return NULL;
	o = cJSON_ParseWithLength(text->p, text->n);
	buf_cut(text, 0);
	return o;
}

/* --- containers ----------------------------------------------------------- */

/* One that says nothing that can be taken for one has not ended well. */
static int status_of(const cJSON *ended)
{
	uint64_t status;

	return json_get_u64(ended, "exitCode", 255, &status) ? (int)status
							      : 255;
}

static void take_state(struct seen_container *c, const cJSON *state)
{
	const cJSON *ended = find(state, "terminated"),
		    *waits = find(state, "waiting"), *said;

	c->state = ended			? SEEN_ENDED
		   : find(state, "running") ? SEEN_RUNS
						: SEEN_WAITS;
	c->status = ended ? status_of(ended) : 0;
	said = ended ? ended : waits;
	copy_text(c->reason, sizeof(c->reason), json_find_str(said, "reason"));
	copy_text(c->text, sizeof(c->text), json_find_str(said, "message"));
}

/* A gate that was started again has ended: the wire is gone. */
static void take_container(struct seen_container *c, const cJSON *status)
{
	const cJSON *last = find(find(status, "lastState"), "terminated");

	take_state(c, find(status, "state"));
	if (!last)
		return;
	c->state = SEEN_ENDED;
	c->status = status_of(last);
}

static void take_containers(struct seen *s, const cJSON *list)
{
	const cJSON *one;

	cJSON_ArrayForEach(one, list)
		for (size_t i = 0; i < SEEN_PARTS; i++)
			if (str_is(json_find_str(one, "name"), names[i]))
				take_container(&s->of[i], one);
}

/* --- the Pod -------------------------------------------------------------- */

static void take_placed(struct seen *s, const cJSON *conditions)
{
	const cJSON *c;

	cJSON_ArrayForEach(c, conditions)
		if (str_is(json_find_str(c, "type"), "PodScheduled")) {
			s->placed = str_is(json_find_str(c, "status"), "True");
			if (!s->placed)
				copy_text(s->text, sizeof(s->text),
					  json_find_str(c, "message"));
		}
}

static void take_status(struct seen *s, const cJSON *status)
{
	s->text[0] = '\0';
	take_placed(s, find(status, "conditions"));
	take_containers(s, find(status, "initContainerStatuses"));
	take_containers(s, find(status, "containerStatuses"));
	s->failed = str_is(json_find_str(status, "phase"), "Failed");
	if (s->failed)
		snprintf(s->text, sizeof(s->text), "%.*s: %.*s",
			 STR_ARG(json_find_str(status, "reason")),
			 STR_ARG(json_find_str(status, "message")));
}

void seen_take(struct seen *s, const cJSON *event)
{
	const cJSON *pod = find(event, "object");

	if (!str_is(json_find_str(pod, "kind"), "Pod"))
		return; /* the watch's own: it ends behind that */
	s->known = true;
	s->gone = str_is(json_find_str(event, "type"), "DELETED");
	s->deleting = find(find(pod, "metadata"), "deletionTimestamp") != NULL;
	take_status(s, find(pod, "status"));
}

/* --- what of it is the end ------------------------------------------------- */

static bool is_one_of(const char *word, const char *const *list)
{
	for (; *list; list++)
		if (strcmp(word, *list) == 0)
			return true;
	return false;
}

static bool is_stuck(const struct seen_container *c)
{
	static const char *const reasons[] = {
		"ErrImagePull",	      "ImagePullBackOff",
		"ErrImageNeverPull",  "InvalidImageName",
		"ImageInspectError",  "CreateContainerConfigError",
		"CreateContainerError", NULL};

	return c->state == SEEN_WAITS && is_one_of(c->reason, reasons);
}

bool seen_hopeless(const struct seen *s, char out[SEEN_TEXT_MAX])
{
	for (size_t i = 0; i < SEEN_PARTS; i++) {
		const struct seen_container *c = &s->of[i];

		if (!is_stuck(c))
			continue;
		snprintf(out, SEEN_TEXT_MAX, "%s: %s: %.400s", names[i],
			 c->reason, c->text);
		return true;
	}
	if (!s->failed || s->of[SEEN_AGENT].state >= SEEN_RUNS ||
	    s->text[0] == ':')
		return false;
	snprintf(out, SEEN_TEXT_MAX, "%s", s->text);
	return true;
}

const char *seen_waits_for(const struct seen *s)
{
	if (!s->known)
		return "making the Pod";
	if (!s->placed)
		return "the Pod waits for a node";
	if (s->of[SEEN_GATE].state < SEEN_RUNS)
		return "the Pod's containers are made";
	if (s->of[SEEN_WORKSPACE].state == SEEN_RUNS)
		return "the workspace is cloned";
	return "starting the gate";
}

/* --- events --------------------------------------------------------------- */

static bool holds(struct str text, const char *word)
{
	size_t n = strlen(word);

	for (size_t i = 0; i + n <= text.n; i++)
		if (memcmp(text.p + i, word, n) == 0)
			return true;
	return false;
}

enum seen_news seen_event(const cJSON *event, char out[SEEN_TEXT_MAX])
{
	/* of these the Pod's status has more, or they are as it should be */
	static const char *const usual[] = {"Failed", "BackOff", "Unhealthy",
					    "InspectFailed", NULL};
	const cJSON *o = find(event, "object");
	struct str text = json_find_str(o, "message");
	char reason[64];

	copy_text(reason, sizeof(reason), json_find_str(o, "reason"));
	if (!str_is(json_find_str(o, "type"), "Warning") ||
	    is_one_of(reason, usual))
		return SEEN_USUAL;
	copy_text(out, SEEN_TEXT_MAX, text);
	return strcmp(reason, "FailedMount") == 0 && holds(text, "secret") &&
			       (holds(text, "not found") ||
				holds(text, "non-existent"))
		       ? SEEN_HOPELESS
		       : SEEN_TROUBLE;
}
