/*
 * The value of one argument of an event, as a record names it.
 */
#ifndef RUNTIME_WATCH_VALUE_H
#define RUNTIME_WATCH_VALUE_H

#include "compiler/base/str.h"
#include "runtime/watch/kernel/event.h"

#include <sys/socket.h>

enum value_kind {
	VALUE_INT,
	VALUE_UINT,
	VALUE_BOOL,
	VALUE_TEXT,
	VALUE_LIST, /* texts, each ended by a NUL */
	VALUE_ADDR,
	VALUE_PACKET,	 /* the ends of a datagram */
	VALUE_QUESTIONS, /* texts: name, type, class of each */
	/* texts: name, type, code, why it was refused, "cut" or nothing; then
	 * type, seconds and data of each record */
	VALUE_ANSWERS,
	VALUE_NONE, /* null */
};

struct value {
	enum value_kind kind;
	union {
		int64_t i;
		uint64_t u;
		bool b;
		struct str s; /* TEXT and LIST */
		struct sockaddr_storage addr;
		struct {
			struct sockaddr_storage src, dst;
			uint32_t bytes;
			bool tcp;
		} packet;
	};
};

struct value value_int(int64_t i);
struct value value_uint(uint64_t u);
struct value value_bool(bool b);
struct value value_text(struct str s);
/* A number as the type of its argument has it: "int32" */
struct value value_number(const char *type, uint64_t u);
/* NONE when there are fewer bytes than a family, or more than an address. */
struct value value_addr(struct str raw);
/* One end of a socket; NONE when it is not of IP. */
struct value value_sock(const struct watch_sock *s, bool peer);
/* "AF_NETLINK", as Tracee has them; NULL for a family without a name. */
const char *value_family(unsigned family);
/* Of IP: does a, as a process said it, lead to b? */
bool value_same_end(const struct sockaddr_storage *a,
		    const struct sockaddr_storage *b);
/* Of IP, at the port of DNS (RFC 1035, 4.2). */
bool value_is_resolver(const struct sockaddr_storage *a);

#endif
