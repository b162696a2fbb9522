#include "runtime/watch/value.h"

#include <arpa/nameser.h>
#include <netinet/in.h>
#include <string.h>

struct value value_int(int64_t i)
{
	return (struct value){VALUE_INT, {.i = i}};
}

struct value value_uint(uint64_t u)
{
	return (struct value){VALUE_UINT, {.u = u}};
}

struct value value_bool(bool b)
{
	return (struct value){VALUE_BOOL, {.b = b}};
}

struct value value_text(struct str s)
{
	return (struct value){VALUE_TEXT, {.s = s}};
}

struct value value_addr(struct str raw)
{
	struct value v = {.kind = VALUE_NONE};

	if (raw.n < sizeof(sa_family_t) || raw.n > sizeof(v.addr))
		return v;
	v.kind = VALUE_ADDR;
	memset(&v.addr, 0, sizeof(v.addr));
	memcpy(&v.addr, raw.p, raw.n);
	return v;
}

/* One end of a socket. */
struct value value_sock(const struct watch_sock *s, bool peer)
{
	struct value v = {.kind = VALUE_NONE};
	uint16_t port = peer ? s->peer_port : htons(s->local_port);
	const uint8_t *addr = peer ? s->peer : s->local;

	if (s->family == AF_INET) {
		struct sockaddr_in *in = (struct sockaddr_in *)&v.addr;

		memset(&v.addr, 0, sizeof(v.addr));
		v.kind = VALUE_ADDR;
		in->sin_family = AF_INET;
		in->sin_port = port;
		memcpy(&in->sin_addr, addr, sizeof(in->sin_addr));
	} else if (s->family == AF_INET6) {
		struct sockaddr_in6 *in = (struct sockaddr_in6 *)&v.addr;

		memset(&v.addr, 0, sizeof(v.addr));
		v.kind = VALUE_ADDR;
		in->sin6_family = AF_INET6;
		in->sin6_port = port;
		memcpy(&in->sin6_addr, addr, sizeof(in->sin6_addr));
	}
	return v;
}

/* A number as the type of the argument has it. */
struct value value_number(const char *type, uint64_t u)
{
	if (strcmp(type, "int32") == 0)
		return value_int((int32_t)u);
	if (strcmp(type, "int64") == 0)
		return value_int((int64_t)u);
	if (strcmp(type, "uint16") == 0)
		return value_uint((uint16_t)u);
	if (strcmp(type, "uint32") == 0)
		return value_uint((uint32_t)u);
	return value_uint(u);
}

bool value_same_end(const struct sockaddr_storage *a,
		    const struct sockaddr_storage *b)
{
	const struct sockaddr_in *a4 = (const struct sockaddr_in *)a,
				 *b4 = (const struct sockaddr_in *)b;
	const struct sockaddr_in6 *a6 = (const struct sockaddr_in6 *)a,
				  *b6 = (const struct sockaddr_in6 *)b;

	/* the port is at the same place for both kinds */
	if (a->ss_family != b->ss_family || a4->sin_port != b4->sin_port)
		return false;
	/* "any" is this machine to the kernel */
	if (a->ss_family == AF_INET)
		return a4->sin_addr.s_addr == b4->sin_addr.s_addr ||
		       a4->sin_addr.s_addr == INADDR_ANY;
	return memcmp(&a6->sin6_addr, &b6->sin6_addr, sizeof(a6->sin6_addr)) ==
		       0 ||
	       IN6_IS_ADDR_UNSPECIFIED(&a6->sin6_addr);
}

const char *value_family(unsigned family)
{
	/* include/linux/socket.h, by number. */
	static const char *const names[] = {
		"AF_UNSPEC",	 "AF_UNIX",	 "AF_INET",	"AF_AX25",
		"AF_IPX",	 "AF_APPLETALK", "AF_NETROM",	"AF_BRIDGE",
		"AF_ATMPVC",	 "AF_X25",	 "AF_INET6",	"AF_ROSE",
		"AF_DECnet",	 "AF_NETBEUI",	 "AF_SECURITY", "AF_KEY",
		"AF_NETLINK",	 "AF_PACKET",	 "AF_ASH",	"AF_ECONET",
		"AF_ATMSVC",	 "AF_RDS",	 "AF_SNA",	"AF_IRDA",
		"AF_PPPOX",	 "AF_WANPIPE",	 "AF_LLC",	"AF_IB",
		"AF_MPLS",	 "AF_CAN",	 "AF_TIPC",	"AF_BLUETOOTH",
		"AF_IUCV",	 "AF_RXRPC",	 "AF_ISDN",	"AF_PHONET",
		"AF_IEEE802154", "AF_CAIF",	 "AF_ALG",	"AF_NFC",
		"AF_VSOCK",	 "AF_KCM",	 "AF_QIPCRTR",	"AF_SMC",
		"AF_XDP",
	};

	return family < ARRAY_LEN(names) ? names[family] : NULL;
}

bool value_is_resolver(const struct sockaddr_storage *a)
{
	/* the port is at the same place for both kinds */
	return (a->ss_family == AF_INET || a->ss_family == AF_INET6) &&
	       ((const struct sockaddr_in *)a)->sin_port ==
		       htons(NS_DEFAULTPORT);
}
