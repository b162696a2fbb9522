#include "runtime/gate/l7/hello.h"

#include "compiler/plan/hello.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static int take_hosts(const cJSON *host, struct names_hosts *hosts,
		      struct err *err)
{
	const cJSON *item;

	if (!cJSON_IsArray(host))
		return err_set(err, -EPROTO, "no addresses of the host");
	cJSON_ArrayForEach(item, host) {
		struct addr a;

		if (!cJSON_IsString(item) ||
		    !addr_parse(str_of(item->valuestring), &a))
			return err_set(err, -EPROTO, "not an address");
		if (!names_hosts_add(hosts, &a))
			return err_set(err, -EPROTO,
				       "more than %u addresses of the host",
				       NAMES_HOSTS_MAX);
	}
	return 0;
}

/* What a header may hold: RFC 9110, section 5.5, without the tab. */
static bool is_value(const char *text)
{
	size_t n = strlen(text);

	for (size_t i = 0; i < n; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 127)
			return false;
	return n > 0 && n <= HELLO_VALUE_MAX;
}

static bool is_digits(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!(s.p[i] >= '0' && s.p[i] <= '9') &&
		    !(s.p[i] >= 'a' && s.p[i] <= 'f'))
			return false;
	return s.n == GATE_SENTINEL_DIGITS;
}

/* digits: NULL for a header. The value has been looked at. */
static int take_value(unsigned number, const struct str *digits,
		      const char *value, struct hello_credentials *out,
		      struct err *err)
{
	struct hello_token *t;

	if (!digits) {
		snprintf(out->v[out->n++], sizeof(out->v[0]), "%s%u=%s",
			 GATE_ENV_SECRET, number, value);
		return 0;
	}
	if (!is_digits(*digits) || strchr(value, ' '))
		return err_set(err, -EPROTO, "credential %u is no sentinel's",
			       number);
	t = &out->tokens[out->n_tokens++];
	t->n = number;
	snprintf(t->digits, sizeof(t->digits), "%.*s", STR_ARG(*digits));
	snprintf(t->value, sizeof(t->value), "%s", value);
	return 0;
}

static int take_credentials(const cJSON *list, struct hello_credentials *out,
			    struct err *err)
{
	const cJSON *item;
	uint64_t number;
	int rc;

	if (list && !cJSON_IsObject(list))
		return err_set(err, -EPROTO, "malformed credentials");
	cJSON_ArrayForEach(item, list) {
		struct str key = str_of(item->string);
		size_t colon = str_find(key, ':', 0);
		struct str digits = str_slice(key, colon + 1, key.n);

		if (out->n == HELLO_CREDENTIALS_MAX ||
		    out->n_tokens == HELLO_CREDENTIALS_MAX ||
		    !str_u64(str_slice(key, 0, colon), 9999, &number) ||
		    item->string[0] == '0')
			return err_set(
				err, -EPROTO,
				"too many credentials, or one without a number");
		if (!cJSON_IsString(item) || !is_value(item->valuestring))
			return err_set(
				err, -EPROTO,
				"credential %u is empty, too long or has a control byte",
				(unsigned)number);
		rc = take_value((unsigned)number,
				colon < key.n ? &digits : NULL,
				item->valuestring, out, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Its address is one of those that the agent is kept away from. */
static int take_proxy(const cJSON *o, struct names_hosts *hosts,
		      struct hello_credentials *out, struct err *err)
{
	const cJSON *addr = cJSON_GetObjectItemCaseSensitive(o, HELLO_ADDR);
	const cJSON *port = cJSON_GetObjectItemCaseSensitive(o, HELLO_PORT);
	const cJSON *login = cJSON_GetObjectItemCaseSensitive(o, HELLO_LOGIN);

	if (!o)
		return 0;
	if (!cJSON_IsString(addr) ||
	    !addr_parse(str_of(addr->valuestring), &hosts->proxy) ||
	    !cJSON_IsNumber(port) || port->valueint < 1 ||
	    port->valueint > UINT16_MAX)
		return err_set(err, -EPROTO, "a malformed proxy");
	if (login && (!cJSON_IsString(login) || !is_value(login->valuestring) ||
		      strlen(login->valuestring) > HELLO_LOGIN_MAX ||
		      !strchr(login->valuestring, ':')))
		return err_set(err, -EPROTO, "a malformed login for the proxy");
	if (!names_hosts_add(hosts, &hosts->proxy))
		return err_set(err, -EPROTO,
			       "more than %u addresses of the host",
			       NAMES_HOSTS_MAX);
	hosts->proxy_port = (uint16_t)port->valueint;
	if (login)
		snprintf(out->login, sizeof(out->login), "%s",
			 login->valuestring);
	return 0;
}

static int take_hello(const cJSON *tree, struct names_hosts *hosts,
		      struct hello_credentials *out, struct err *err)
{
	const cJSON *version =
		cJSON_GetObjectItemCaseSensitive(tree, HELLO_VERSION_KEY);
	int rc;

	if (!cJSON_IsNumber(version) || version->valueint != HELLO_VERSION)
		return err_set(err, -EPROTO, "unknown version");
	out->trial = cJSON_IsTrue(
		cJSON_GetObjectItemCaseSensitive(tree, HELLO_TRIAL));
	rc = take_hosts(cJSON_GetObjectItemCaseSensitive(tree, HELLO_HOST),
			hosts, err);
	if (rc < 0)
		return rc;
	rc = take_credentials(
		cJSON_GetObjectItemCaseSensitive(tree, HELLO_CREDENTIALS), out,
		err);
	return rc < 0 ? rc
		      : take_proxy(cJSON_GetObjectItemCaseSensitive(
					   tree, HELLO_PROXY),
				   hosts, out, err);
}

void hello_wipe(cJSON *tree)
{
	cJSON *list = cJSON_GetObjectItemCaseSensitive(tree, HELLO_CREDENTIALS);
	cJSON *item;

	cJSON_ArrayForEach(item, list)
		if (cJSON_IsString(item))
			explicit_bzero(item->valuestring,
				       strlen(item->valuestring));
	item = cJSON_GetObjectItemCaseSensitive(
		cJSON_GetObjectItemCaseSensitive(tree, HELLO_PROXY),
		HELLO_LOGIN);
	if (cJSON_IsString(item))
		explicit_bzero(item->valuestring, strlen(item->valuestring));
}

int hello_parse(struct str line, struct names_hosts *hosts,
		struct hello_credentials *out, struct err *err)
{
	const char *end = NULL;
	cJSON *tree = cJSON_ParseWithLengthOpts(line.p, line.n, &end, 0);
	int rc = tree && end == line.p + line.n
			 ? take_hello(tree, hosts, out, err)
			 : err_set(err, -EPROTO, "not one JSON object");

	hello_wipe(tree);
	cJSON_Delete(tree);
	return rc;
}

bool hello_covers(const struct hello_credentials *c, struct str text)
{
	static const struct str word = STR_INIT(GATE_ENV_SECRET);

	for (size_t at = 0; (at = str_find(text, 'M', at)) < text.n; at++) {
		struct str rest = str_slice(text, at, text.n);
		size_t n = word.n;
		bool found = false;

		if (!str_starts(rest, word))
			continue;
		while (n < rest.n && rest.p[n] >= '0' && rest.p[n] <= '9')
			n++;
		for (uint32_t i = 0; i < c->n && !found; i++)
			found = strncmp(c->v[i], rest.p, n) == 0 &&
				c->v[i][n] == '=';
		if (!found)
			return false;
	}
	return true;
}

void hello_forget(struct hello_credentials *c)
{
	explicit_bzero(c, sizeof(*c));
}
