#include "runtime/gate/l7/tokens.h"

#include "runtime/gate/l7/admin.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

int tokens_file(const struct hello_credentials *c, const char *path,
		struct err *err)
{
	auto_fd int fd =
		open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	char line[sizeof(struct hello_token) + 16];
	int rc = 0;

	if (fd < 0 || fchmod(fd, 0644) < 0)
		return err_set(err, -errno, "%s: %s", path, strerror(errno));
	for (uint32_t i = 0; rc == 0 && i < c->n_tokens; i++) {
		const struct hello_token *t = &c->tokens[i];
		int n = snprintf(line, sizeof(line), "%u:%s %s\n", t->n,
				 t->digits, t->value);

		if (write(fd, line, (size_t)n) != n)
			rc = err_set(err, -ENOSPC, "%s: no room", path);
	}
	explicit_bzero(line, sizeof(line));
	return rc;
}

/* HAProxy's commands end at ';', or go on in the next line behind "<<", and '\\'
 * takes that from them. */
static size_t put_escaped(char *out, const char *value)
{
	size_t n = 0;

	for (; *value; value++) {
		if (*value == ';' || *value == '\\' || *value == '<')
			out[n++] = '\\';
		out[n++] = *value;
	}
	out[n] = '\0';
	return n;
}

int tokens_tell(const struct hello_credentials *c, const char *admin,
		struct err *err)
{
	char value[2 * HELLO_VALUE_MAX + 1], text[sizeof(value) + 160];
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < c->n_tokens; i++) {
		const struct hello_token *t = &c->tokens[i];
		int n;

		(void)put_escaped(value, t->value);
		n = snprintf(text, sizeof(text), "set map %s %u:%s %s\n",
			     GATE_TOKENS, t->n, t->digits, value);
		rc = admin_do(admin, (struct str){text, (size_t)n}, 1, NULL,
			      err);
	}
	explicit_bzero(value, sizeof(value));
	explicit_bzero(text, sizeof(text));
	/* Its words may quote the command. */
	return rc < 0 ? err_set(err, rc, "HAProxy did not take new tokens") : 0;
}

static struct hello_token *token_of(struct hello_credentials *c,
				    const char *key)
{
	char text[GATE_SENTINEL_DIGITS + 16];

	for (uint32_t i = 0; i < c->n_tokens; i++) {
		snprintf(text, sizeof(text), "%u:%s", c->tokens[i].n,
			 c->tokens[i].digits);
		if (strcmp(text, key) == 0)
			return &c->tokens[i];
	}
	return NULL;
}

static bool is_token(const cJSON *item)
{
	const char *text = item->valuestring;

	if (!cJSON_IsString(item) || strlen(text) > HELLO_VALUE_MAX)
		return false;
	for (; *text; text++)
		if (*text <= ' ' || *text >= 127)
			return false;
	return text > item->valuestring;
}

int tokens_renew(struct hello_credentials *c, const cJSON *values,
		 struct err *err)
{
	const cJSON *item;

	if (values && !cJSON_IsObject(values))
		return err_set(err, -EPROTO, "malformed tokens");
	cJSON_ArrayForEach(item, values)
		if (!is_token(item) || !token_of(c, item->string))
			return err_set(err, -EPROTO,
				       "a new token for nothing, or none");
	cJSON_ArrayForEach(item, values)
		snprintf(token_of(c, item->string)->value,
			 sizeof(c->tokens[0].value), "%s", item->valuestring);
	return 0;
}
