#include "runtime/watch/question.h"

#include "runtime/watch/parts.h"

#include <arpa/nameser.h>
#include <netinet/in.h>
#include <resolv.h>
#include <string.h>

static const char *type_name(ns_type type)
{
	static const struct {
		ns_type type;
		const char *name;
	} names[] = {
		{ns_t_a, "A"},		{ns_t_aaaa, "AAAA"},
		{ns_t_cname, "CNAME"},	{ns_t_srv, "SRV"},
		{ns_t_mx, "MX"},	{ns_t_txt, "TXT"},
		{ns_t_ptr, "PTR"},	{ns_t_ns, "NS"},
		{ns_t_soa, "SOA"},	{ns_t_any, "ANY"},
		{(ns_type)65, "HTTPS"}, {(ns_type)64, "SVCB"},
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (names[i].type == type)
			return names[i].name;
	return "other";
}

/* "example.com\0A\0IN\0"; the library reads the message. */
static bool take_question(struct record *r, struct str data, struct str *out)
{
	ns_msg msg;
	ns_rr rr;

	if (data.n == 0 ||
	    ns_initparse((const u_char *)data.p, (int)data.n, &msg) < 0 ||
	    ns_msg_count(msg, ns_s_qd) < 1 ||
	    ns_parserr(&msg, ns_s_qd, 0, &rr) < 0)
		return false;
	*out = (struct str){r->text + r->used, 0};
	return record_add_text(r, out, str_of(ns_rr_name(rr))) &&
	       record_add_text(r, out, str_of(type_name(ns_rr_type(rr)))) &&
	       record_add_text(r, out,
			       ns_rr_class(rr) == ns_c_in ? STR("IN")
							  : STR("other"));
}

unsigned question_count(const void *message, size_t bytes)
{
	const char *at = message, *end = at + bytes;
	struct watch_item i;
	unsigned n = 0;

	for (at += sizeof(struct watch_head); at + sizeof(i) <= end;
	     at += sizeof(i) + i.bytes) {
		memcpy(&i, at, sizeof(i));
		if (i.tag == WATCH_DATA && i.part >= n)
			n = i.part + 1u;
	}
	return n;
}

bool question_make(struct record *r, const void *message, size_t bytes,
		   unsigned n)
{
	const struct watch_head *h = message;
	struct value dst;
	struct parts p;
	struct str text;

	memset(&p, 0, sizeof(p));
	if (bytes < sizeof(*h) || n >= ARRAY_LEN(p.data) ||
	    !parts_take(&p, (const char *)(h + 1),
			(const char *)message + bytes))
		return false;
	r->head = h;
	r->event = WATCH_EVENT_net_packet_dns_request;
	r->ret = 0;
	r->syscall = "";
	r->used = 0;
	r->group = (struct str){0};
	dst = parts_destination(&p);
	if (!take_question(r, p.data[n], &text) || dst.kind != VALUE_ADDR)
		return false;
	r->asked =
		(struct asked){ASKED_UDP, false, p.sock.local_port,
			       (uint16_t)ns_get16((const u_char *)p.data[n].p)};
	r->v[0] = (struct value){.kind = VALUE_PACKET};
	r->v[0].packet.src = value_sock(&p.sock, false).addr;
	r->v[0].packet.dst = dst.addr;
	r->v[0].packet.bytes = (uint32_t)p.data[n].n;
	r->v[1] = (struct value){VALUE_QUESTIONS, {.s = text}};
	return true;
}
