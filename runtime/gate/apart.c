#include "runtime/gate/apart.h"

#include "compiler/base/sys/sockaddr.h"

#include <errno.h>
#include <ifaddrs.h>

int apart_hosts(const struct planfile_vectors *v, struct names_hosts *hosts,
		struct err *err)
{
	struct ifaddrs *all;
	bool room = true;
	struct addr a;

	if (getifaddrs(&all) < 0)
		return err_errno(err, "addresses of the Pod");
	for (const struct ifaddrs *i = all; i; i = i->ifa_next)
		if (sockaddr_get(i->ifa_addr, &a))
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
