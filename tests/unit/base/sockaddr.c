/* Addresses as system calls have them: there and back, and what is none. */
#include "compiler/base/sys/sockaddr.h"
#include "tests/check.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

static void check_both_ways(const char *text, int family, socklen_t size,
			    uint16_t port)
{
	struct sockaddr_storage sa;
	const struct sockaddr_in6 *v6 = (const void *)&sa;
	const struct sockaddr_in *v4 = (const void *)&sa;
	char shown[INET6_ADDRSTRLEN];
	struct addr a, back;

	CHECK(addr_parse(str_of(text), &a));
	CHECK(sockaddr_put(&a, port, &sa) == size && sa.ss_family == family);
	if (family == AF_INET) {
		CHECK(v4->sin_port == htons(port));
		inet_ntop(family, &v4->sin_addr, shown, sizeof(shown));
	} else {
		CHECK(v6->sin6_port == htons(port));
		CHECK(v6->sin6_scope_id == 0 && v6->sin6_flowinfo == 0);
		inet_ntop(family, &v6->sin6_addr, shown, sizeof(shown));
	}
	CHECK(str_is(str_of(shown), text));
	CHECK(sockaddr_get((const struct sockaddr *)&sa, &back));
	CHECK(addr_eq(&a, &back));
}

int main(void)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX, .sun_path = "/x"};
	struct addr a;

	check_both_ways("192.0.2.1", AF_INET, sizeof(struct sockaddr_in), 53);
	check_both_ways("0.0.0.0", AF_INET, sizeof(struct sockaddr_in), 0);
	check_both_ways("2001:db8::7", AF_INET6, sizeof(struct sockaddr_in6),
			65535);
	check_both_ways("::ffff:192.0.2.1", AF_INET6,
			sizeof(struct sockaddr_in6), 443);
	CHECK(!sockaddr_get((const struct sockaddr *)&un, &a));
	CHECK(!sockaddr_get(NULL, &a) && a.family == 0);
	return check_status();
}
