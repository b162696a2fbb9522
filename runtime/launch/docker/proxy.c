#include "runtime/launch/docker/proxy.h"

#include "compiler/base/sys/sockaddr.h"
#include "runtime/launch/docker/secrets.h"

#include <errno.h>
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>

static void take_first(const struct addrinfo *list, int family,
		       struct addr *out)
{
	for (; list && !out->family; list = list->ai_next)
		if (list->ai_family == family)
			sockaddr_get(list->ai_addr, out);
}

static int find_addr(const char *host, struct addr *out, struct err *err)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list = NULL;
	char text[ADDR_TEXT_MAX];
	int rc;

	if (addr_parse(str_of(host), out))
		return 0;
	rc = getaddrinfo(host, NULL, &hints, &list);
	if (rc != 0)
		return err_set(err, -ENOENT,
			       "the proxy '%.200s' is not found from here: %s",
			       host, gai_strerror(rc));
	*out = (struct addr){0};
	take_first(list, AF_INET, out);
	take_first(list, AF_INET6, out);
	freeaddrinfo(list);
	if (out->family && addr_may_resolve(out))
		return 0;
	if (addr_is_loopback(out))
		return err_set(
			err, -ENOENT,
			"the proxy '%.200s' is at this machine's loopback: write that address, %s, which the native engine gets to",
			host, addr_text(out, text));
	return err_set(
		err, -ENOENT,
		"the proxy '%.200s' has no address that the gate reaches",
		host);
}

static int check_login(const char *login, struct err *err)
{
	const char *colon = strchr(login, ':');

	if (strlen(login) > PROXY_LOGIN_MAX || !colon || colon == login)
		return err_set(
			err, -EINVAL,
			"the login for the proxy is no USER:PASSWORD, or longer than %u bytes",
			PROXY_LOGIN_MAX);
	return 0;
}

int proxy_find(struct arena *a, const struct vectors *v,
	       const struct vectors_values *values, const char *user_home,
	       struct proxy *out, struct err *err)
{
	const struct vectors_upstream *u = &v->upstream;
	int rc;

	if (!u->host)
		return 0;
	rc = find_addr(u->host, &out->addr, err);
	if (rc == 0 && (u->env || u->file)) {
		rc = secrets_one(a, u->env, u->file, values, user_home,
				 &out->login, err);
		if (rc == 0)
			rc = check_login(out->login, err);
	}
	if (rc == 0)
		out->port = u->port;
	return rc < 0 ? err_while(err, "'upstream'") : 0;
}

void proxy_forget(struct proxy *p)
{
	if (p->login)
		explicit_bzero(p->login, strlen(p->login));
	p->login = NULL;
}
