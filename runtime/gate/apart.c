#include "runtime/gate/apart.h"

#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <string.h>

static bool read_addr(const struct sockaddr *sa, struct addr *out)
{
	const struct sockaddr_in6 *v6 = (const void *)sa;
	const struct sockaddr_in *v4 = (const void *)sa;

	*out = (struct addr){0};
	if (sa && sa->sa_family == AF_INET6) {
		out->family = ADDR_V6;
		memcpy(out->b, &v6->sin6_addr, 16);
		return true;
	}
	if (!sa || sa->sa_family != AF_INET)
		return false;
	out->family = ADDR_V4;
	memcpy(out->b, &v4->sin_addr, 4);
	return true;
}

int apart_hosts(const struct planfile_vectors *v, struct names_hosts *hosts,
		struct err *err)
{
	struct ifaddrs *all;
	bool room = true;
	struct addr a;

	if (getifaddrs(&all) < 0)
		return err_errno(err, "addresses of the Pod");
	for (const struct ifaddrs *i = all; i; i = i->ifa_next)
		if (read_addr(i->ifa_addr, &a))
			room = room && names_hosts_add(hosts, &a);
	freeifaddrs(all);
	for (uint32_t i = 0; i < v->n_door; i++)
		room = room && names_hosts_add(hosts, &v->door[i]);
	return room ? 0 : err_set(err, -E2BIG, "too many addresses of the Pod");
}

const char *apart_family(const struct link_facts *facts)
{
	for (uint32_t i = 0; i < facts->n_defaults; i++)
		if (!facts->defaults[i].v6)
			return "ipv4";
	return "ipv6";
}
