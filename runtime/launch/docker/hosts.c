#include "runtime/launch/docker/hosts.h"

#include "compiler/base/sys/sockaddr.h"
#include "compiler/plan/gate.h"
#include "compiler/plan/hello.h"
#include "runtime/launch/docker/docker_session.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <ifaddrs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static int add_host(struct arena *a, hosts *h, const struct addr *addr,
		    struct err *err)
{
	if (addr_scope(addr) == ADDR_NEVER)
		return 0;
	if (h->n >= HOSTS_MAX)
		return err_set(err, -E2BIG,
			       "this host has more than %u addresses",
			       HOSTS_MAX);
	*vec_push(a, h) = *addr;
	return 0;
}

static int add_interfaces(struct arena *a, hosts *out, struct err *err)
{
	struct ifaddrs *list;
	struct addr addr;
	int rc = 0;

	if (getifaddrs(&list) < 0)
		return err_set(err, -errno, "getifaddrs: %s", strerror(errno));
	for (const struct ifaddrs *i = list; i && rc == 0; i = i->ifa_next)
		if (sockaddr_get(i->ifa_addr, &addr))
			rc = add_host(a, out, &addr, err);
	freeifaddrs(list);
	return rc;
}

/* Docker leaves it out where it chose the first address itself. */
static bool gateway_of(const struct docker_network *n, struct addr *out)
{
	struct str text = str_of(n->gateway);
	struct cidr subnet;

	/* some drivers write it with a prefix length */
	if (addr_parse(str_slice(text, 0, str_find(text, '/', 0)), out))
		return true;
	if (cidr_parse(str_of(n->subnet), &subnet) != CIDR_OK)
		return false;
	*out = subnet.addr;
	out->b[out->family == ADDR_V4 ? 3 : 15] |= 1;
	return true;
}

static int add_gateways(struct arena *a, struct docker *d, hosts *out,
			struct err *err)
{
	docker_networks list = {0};
	struct addr addr;
	int rc = docker_list_networks(d, NULL, &list, err);

	vec_each(n, &list)
		if (rc == 0 && gateway_of(n, &addr))
			rc = add_host(a, out, &addr, err);
	return rc;
}

static int by_addr(const void *a, const void *b)
{
	return addr_cmp(a, b);
}

int hosts_find(struct arena *a, struct docker *d, hosts *out, struct err *err)
{
	uint32_t kept = 0;
	int rc = add_interfaces(a, out, err);

	if (rc == 0 && d)
		rc = add_gateways(a, d, out, err);
	if (rc < 0 || out->n == 0)
		return rc;
	qsort(out->v, out->n, sizeof(*out->v), by_addr);
	for (uint32_t i = 0; i < out->n; i++)
		if (i == 0 || !addr_eq(&out->v[i], &out->v[kept - 1]))
			out->v[kept++] = out->v[i];
	out->n = kept;
	return 0;
}

static void add_secrets(cJSON *root, const secrets *s)
{
	cJSON *list;
	char key[16 + GATE_SENTINEL_DIGITS];

	if (s->n == 0)
		return;
	list = cJSON_AddObjectToObject(root, HELLO_CREDENTIALS);
	vec_each(x, s) {
		snprintf(key, sizeof(key), "%u%s%s", x->n, x->digits ? ":" : "",
			 x->digits ? x->digits : "");
		cJSON_AddStringToObject(list, key, x->value);
	}
}

/* p NULL, or without a port: there is none. */
static void add_proxy(cJSON *root, const struct proxy *p)
{
	char text[ADDR_TEXT_MAX];
	cJSON *o;

	if (!p || p->port == 0)
		return;
	o = cJSON_AddObjectToObject(root, HELLO_PROXY);
	cJSON_AddStringToObject(o, HELLO_ADDR, addr_text(&p->addr, text));
	cJSON_AddNumberToObject(o, HELLO_PORT, p->port);
	if (p->login)
		cJSON_AddStringToObject(o, HELLO_LOGIN, p->login);
}

static void wipe_login(const cJSON *root)
{
	const cJSON *login = cJSON_GetObjectItemCaseSensitive(
		cJSON_GetObjectItemCaseSensitive(root, HELLO_PROXY),
		HELLO_LOGIN);

	if (cJSON_IsString(login))
		explicit_bzero(login->valuestring, strlen(login->valuestring));
}

/* cJSON gives memory back as it is. */
static void wipe_tree(cJSON *root, char *text)
{
	cJSON *list = cJSON_GetObjectItemCaseSensitive(root, HELLO_CREDENTIALS);
	cJSON *item;

	cJSON_ArrayForEach(item, list)
		explicit_bzero(item->valuestring, strlen(item->valuestring));
	wipe_login(root);
	if (text)
		explicit_bzero(text, strlen(text));
}

static cJSON *begin_hello(const char *session, const hosts *h)
{
	cJSON *root = cJSON_CreateObject();
	char buf[ADDR_TEXT_MAX];
	cJSON *list;

	cJSON_AddNumberToObject(root, HELLO_VERSION_KEY, HELLO_VERSION);
	cJSON_AddStringToObject(root, HELLO_SESSION, session);
	list = cJSON_AddArrayToObject(root, HELLO_HOST);
	vec_each(addr, h)
		cJSON_AddItemToArray(list,
				     cJSON_CreateString(addr_text(addr, buf)));
	return root;
}

/* root is freed, and overwritten where it has secrets. */
static struct str end_hello(struct arena *a, cJSON *root)
{
	char *text = cJSON_PrintUnformatted(root);
	struct str line = arena_fmt(a, "%s\n", text ? text : "");

	wipe_tree(root, text);
	cJSON_free(text);
	cJSON_Delete(root);
	return line;
}

struct str hosts_hello(struct arena *a, const char *session, const hosts *h,
		       const secrets *s, const struct proxy *p)
{
	cJSON *root = begin_hello(session, h);

	add_secrets(root, s);
	add_proxy(root, p);
	return end_hello(a, root);
}

struct str hosts_hello_trial(struct arena *a, const char *session,
			     const hosts *h)
{
	cJSON *root = begin_hello(session, h);

	cJSON_AddTrueToObject(root, HELLO_TRIAL);
	return end_hello(a, root);
}
