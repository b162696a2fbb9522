#include "compiler/base/sys/sockaddr.h"

#include <netinet/in.h>
#include <string.h>

socklen_t sockaddr_put(const struct addr *a, uint16_t port,
		       struct sockaddr_storage *out)
{
	struct sockaddr_in6 *v6 = (void *)out;
	struct sockaddr_in *v4 = (void *)out;

	*out = (struct sockaddr_storage){0};
	switch (a->family) {
	case ADDR_V4:
		v4->sin_family = AF_INET;
		v4->sin_port = htons(port);
		memcpy(&v4->sin_addr, a->b, sizeof(v4->sin_addr));
		return sizeof(*v4);
	case ADDR_V6:
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons(port);
		memcpy(&v6->sin6_addr, a->b, sizeof(v6->sin6_addr));
		return sizeof(*v6);
	}
	return 0;
}

bool sockaddr_get(const struct sockaddr *sa, struct addr *out)
{
	const struct sockaddr_in6 *v6 = (const void *)sa;
	const struct sockaddr_in *v4 = (const void *)sa;

	*out = (struct addr){0};
	if (sa && sa->sa_family == AF_INET) {
		out->family = ADDR_V4;
		memcpy(out->b, &v4->sin_addr, sizeof(v4->sin_addr));
		return true;
	}
	if (sa && sa->sa_family == AF_INET6) {
		out->family = ADDR_V6;
		memcpy(out->b, &v6->sin6_addr, sizeof(v6->sin6_addr));
		return true;
	}
	return false;
}
