/*
 * What is in the way of a Pod, in the words of whoever found it: kubelet,
 * scheduler, gate.
 */
#include "runtime/launch/pod/parts.h"

#include "runtime/launch/loop/progress.h"

#include <errno.h>
#include <string.h>

#define LAST_LINES "--tail=5" /* of an init container that failed */

static const char *cleaned(struct pod *p, const char *text)
{
	struct buf b;

	buf_init(&b, p->a);
	summary_escape(&b, str_of(text), SEEN_TEXT_MAX);
	buf_addc(&b, '\0');
	return b.p;
}

void pod_trouble_tell(struct pod *p, const char *text)
{
	if (p->state != POD_STARTING || strcmp(p->told, text) == 0)
		return;
	snprintf(p->told, sizeof(p->told), "%s", text);
	progress_clear(&p->run);
	if (!p->o->quiet)
		fprintf(stderr, "membrane: the Pod: %s\n", cleaned(p, text));
}

/* What a container that has ended printed last, as one line. */
static const char *last_lines(struct pod *p, enum seen_part part)
{
	const char *words[] = {
		"logs", LAST_LINES,
		arena_fmt(p->a, "--container=%s", seen_name(part)).p,
		arena_cstr(p->a, p->objects.name), NULL};
	struct kubectl_call c = {.words = words, .timeout_ms = OBJECTS_MS};
	struct str rest, line;
	struct err err;
	struct buf b;

	if (kubectl_do(p->a, &p->objects.at, &c, &err) < 0)
		return cleaned(p, err.text);
	buf_init(&b, p->a);
	rest = c.text;
	while (str_line(&rest, &line))
		buf_addf(&b, "%s%.*s", b.n ? "; " : "", STR_ARG(line));
	buf_addc(&b, '\0');
	return cleaned(p, b.p);
}

/* Before the agent: each of them has to end well, or to go on. */
static bool has_init_failed(struct pod *p, struct err *err)
{
	static const enum seen_part parts[] = {SEEN_FENCE, SEEN_WORKSPACE};

	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		const struct seen_container *c = &p->seen.of[parts[i]];

		if (c->state != SEEN_ENDED || c->status == 0)
			continue;
		err_set(err, -ECHILD, "the container %s ended with status %d: %s",
			seen_name(parts[i]), c->status, last_lines(p, parts[i]));
		return true;
	}
	return false;
}

/* Its last words are in its log, which is read to the end before. */
static bool has_gate_failed(struct pod *p, struct err *err)
{
	const struct seen_container *c = &p->seen.of[SEEN_GATE];
	const char *words = gate_last_words(p->run.gate);

	if (c->state != SEEN_ENDED || p->log_again.begun_ms == 0 ||
	    !stream_is_over(&p->log))
		return false;
	err_set(err, -EPIPE, "the gate ended (status %d): %s", c->status,
		*words ? words : c->reason);
	return true;
}

bool pod_trouble_find(struct pod *p)
{
	char text[SEEN_TEXT_MAX];
	struct err err;

	if (p->seen.gone || p->seen.deleting)
		err_set(&err, -ECANCELED, "somebody else deleted the Pod %.*s",
			STR_ARG(p->objects.name));
	else if (p->hopeless[0] && p->state == POD_STARTING)
		err_set(&err, -ECHILD, "the Pod cannot begin: %s",
			cleaned(p, p->hopeless));
	else if (seen_hopeless(&p->seen, text))
		err_set(&err, -ECHILD, "the Pod cannot begin: %s",
			cleaned(p, text));
	else if (!has_init_failed(p, &err) && !has_gate_failed(p, &err))
		return false;
	pod_fail(p, &err);
	return true;
}

bool pod_trouble_begin(const struct pod *p, int *out_status)
{
	static const char *const missing[] = {"not found", "no such file"};
	const struct seen_container *c = &p->seen.of[SEEN_AGENT];

	if (strcmp(c->reason, "StartError") != 0 &&
	    strcmp(c->reason, "ContainerCannotRun") != 0)
		return false;
	*out_status = 126;
	for (size_t i = 0; i < ARRAY_LEN(missing); i++)
		if (strstr(c->text, missing[i]))
			*out_status = 127;
	if (!p->o->quiet)
		fprintf(stderr, "membrane: the command cannot begin: %s\n",
			cleaned((struct pod *)(uintptr_t)p, c->text));
	return true;
}
