#include "runtime/launch/tokens/renewals.h"

#include "compiler/base/json.h"
#include "compiler/base/oauth.h"
#include "compiler/base/sys/clock.h"
#include "compiler/base/sys/proc.h"
#include "runtime/launch/tokens/sentinel.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIFE_S 50 /* of a process; more than its call may take */

static const char failed[] =
	"{\"status\":502,\"body\":\"{\\\"error\\\":\\\"server_error\\\",\\\"error_description\\\":\\\"membrane: the tokens were not renewed\\\"}\"}";
static const char too_many[] =
	"{\"status\":429,\"body\":\"{\\\"error\\\":\\\"slow_down\\\",\\\"error_description\\\":\\\"membrane: too many renewals at once\\\"}\"}";

void renewals_init(struct renewals *r)
{
	memset(r, 0, sizeof(*r));
	r->out = -1;
}

void renewals_know(struct arena *a, struct renewals *r, const secrets *s)
{
	vec_each(c, &r->v->credentials) {
		const char *name = c->refresh ? renew_field(c, OAUTH_ACCESS)
					      : NULL,
			   *digits = name ? sentinel_digits(a, c->file, name)
					  : NULL;

		vec_each(one, s) {
			struct renewals_had *had;

			if (!digits || one->n != c->n || !one->digits ||
			    strcmp(one->digits, digits) != 0)
				continue;
			had = vec_push(a, &r->had);
			had->n = c->n;
			had->key = arena_fmt(a, "%u:%s", c->n, digits).p;
			sha256_hex(str_of(one->value), had->digest);
		}
	}
}

static const char *had_of(const struct renewals *r, uint32_t n)
{
	vec_each(had, &r->had)
		if (had->n == n)
			return had->digest;
	return "";
}

static void take_values(struct renewals *r, const cJSON *values)
{
	vec_each(had, &r->had) {
		const cJSON *item =
			cJSON_GetObjectItemCaseSensitive(values, had->key);

		if (cJSON_IsString(item))
			sha256_hex(str_of(item->valuestring), had->digest);
	}
}

static int tell_gate(struct renewals *r, uint32_t id, struct str json,
		     struct err *err)
{
	static char line[GATE_RENEWED_MAX];
	int n = snprintf(line, sizeof(line), "renewed %u %.*s\n", id,
			 STR_ARG(json)),
	    rc;

	if (n >= (int)sizeof(line))
		n = snprintf(line, sizeof(line), "renewed %u %s\n", id, failed);
	rc = r->tell(r->ctx, (struct str){line, (size_t)n}, err);
	explicit_bzero(line, sizeof(line));
	return rc;
}

/* --- the process -----------------------------------------------------------
 */

static void become_renewer(const struct renewals *r,
			   const struct renewals_one *one, int out,
			   pid_t parent)
{
	struct renew_ask ask = {.v = r->v,
				.values = r->values,
				.proxy = &r->proxy,
				.n = one->n,
				.home = r->home,
				.lock = r->lock,
				.addr = one->addr,
				.is_form = one->is_form,
				.agent = one->agent,
				.body = one->body,
				.had = had_of(r, one->n)};
	struct arena *a = arena_new();
	struct str line;

	/* What it holds of the session would keep that alive. */
	proc_close_others(out, -1);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
		_exit(1);
	alarm(LIFE_S);
	line = renew_run(a, &ask);
	while (line.n) {
		ssize_t n = write(out, line.p, line.n);

		if (n <= 0)
			_exit(1);
		line = str_slice(line, (size_t)n, line.n);
	}
	_exit(0);
}

static int start_next(struct renewals *r, struct err *err)
{
	const struct renewals_one *one = NULL;
	pid_t parent = getpid();
	int out = -1, rc;

	for (size_t i = 0; !one && i < RENEWALS_MAX; i++)
		if (r->waiting[i].id)
			one = &r->waiting[i];
	if (!one || r->pid)
		return 0;
	rc = proc_pipe(&r->out, &out, err);
	if (rc == 0)
		rc = proc_nonblock(r->out, err);
	if (rc < 0)
		return rc;
	fflush(stderr);
	r->pid = fork();
	if (r->pid == 0)
		become_renewer(r, one, out, parent);
	close(out);
	r->under_way = one->n;
	r->n_text = 0;
	if (r->pid < 0) {
		r->pid = 0;
		return err_errno(err, "fork");
	}
	return 0;
}

/* --- answers ---------------------------------------------------------------
 */

/* New tokens are those of whoever asks next, too: the gate has the values. */
static void keep_last(struct renewals *r, struct str json)
{
	cJSON *o = cJSON_ParseWithLength(json.p, json.n);
	cJSON *values = cJSON_DetachItemFromObjectCaseSensitive(o, "values");
	char *text = values ? cJSON_PrintUnformatted(o) : NULL;

	take_values(r, values);
	fields_delete(values);
	r->n_last = text && strlen(text) < sizeof(r->last) ? strlen(text) : 0;
	if (r->n_last)
		memcpy(r->last, text, r->n_last);
	cJSON_free(text);
	cJSON_Delete(o);
	r->last_n = r->under_way;
	r->last_ms = clock_ms();
}

static int answer_all(struct renewals *r, struct str json, struct err *err)
{
	bool first = true;
	int rc = 0;

	keep_last(r, json);
	for (size_t i = 0; rc == 0 && i < RENEWALS_MAX; i++) {
		struct renewals_one *one = &r->waiting[i];

		if (!one->id || one->n != r->under_way)
			continue;
		rc = tell_gate(r, one->id,
			       first || !r->n_last
				       ? json
				       : (struct str){r->last, r->n_last},
			       err);
		first = false;
		one->id = 0;
	}
	r->under_way = 0;
	return rc;
}

int renewals_pump(struct renewals *r, struct err *err)
{
	struct str json;
	size_t n;
	int rc;

	if (r->out < 0)
		return 0;
	while ((n = proc_read(&r->out, r->text + r->n_text,
			      sizeof(r->text) - r->n_text)))
		r->n_text += n;
	if (r->out >= 0 && r->n_text < sizeof(r->text))
		return 0;
	fd_close(&r->out);
	r->out = -1;
	kill(r->pid, SIGKILL); /* it has said all, or too much */
	waitpid(r->pid, NULL, 0);
	r->pid = 0;
	json = (struct str){r->text, r->n_text};
	if (r->n_text == 0 || r->n_text == sizeof(r->text))
		json = STR(failed);
	rc = answer_all(r, json, err);
	explicit_bzero(r->text, sizeof(r->text));
	return rc < 0 ? rc : start_next(r, err);
}

void renewals_done(struct renewals *r)
{
	if (r->pid) {
		kill(r->pid, SIGKILL);
		waitpid(r->pid, NULL, 0);
		r->pid = 0;
	}
	fd_close(&r->out);
	r->out = -1;
	explicit_bzero(r->text, sizeof(r->text));
}

/* --- what is asked ---------------------------------------------------------
 */

static bool take_text(const cJSON *event, const char *name, char *out,
		      size_t size)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(event, name);

	return cJSON_IsString(item) &&
	       snprintf(out, size, "%s", item->valuestring) < (int)size;
}

int renewals_ask(struct renewals *r, const cJSON *event, struct err *err)
{
	uint32_t id = (uint32_t)json_find_u64(event, "id", UINT32_MAX);
	uint32_t n = (uint32_t)json_find_u64(event, "n", UINT32_MAX);
	struct renewals_one *one = NULL;

	if (!id || !n)
		return err_set(err, -EPROTO, "a renewal without numbers");
	if (r->n_last && r->last_n == n &&
	    clock_ms() - r->last_ms < RENEWALS_SAME_MS)
		return tell_gate(r, id, (struct str){r->last, r->n_last}, err);
	for (size_t i = 0; i < RENEWALS_MAX; i++)
		if (!r->waiting[i].id)
			one = &r->waiting[i];
	if (!one)
		return tell_gate(r, id, STR(too_many), err);
	if (!take_text(event, "addr", one->addr, sizeof(one->addr)) ||
	    !take_text(event, "agent", one->agent, sizeof(one->agent)) ||
	    !take_text(event, "body", one->body, sizeof(one->body)))
		return err_set(err, -EPROTO, "a malformed renewal");
	one->is_form = json_find_true(event, "form");
	one->n = n;
	one->id = id;
	return start_next(r, err);
}
