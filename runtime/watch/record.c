#include "runtime/watch/record.h"

#include <arpa/nameser.h>
#include <errno.h>
#include <netinet/in.h>
#include <resolv.h>
#include <stdlib.h>
#include <string.h>

/* What the items of a message say, by part; empty when it does not. */
struct parts {
	struct str path[WATCH_CMD + 1], base[WATCH_CMD + 1];
	struct str text[WATCH_CMD + 1];
	struct str addr, group, data[2];
	bool has_path[WATCH_CMD + 1], has_base[WATCH_CMD + 1];
	struct watch_file file;
	struct watch_sock sock;
	struct watch_child child;
};

/* --- items ---------------------------------------------------------------- */

static void take_struct(void *to, size_t n, struct str from)
{
	if (from.n == n)
		memcpy(to, from.p, n);
}

static bool take_item(struct parts *p, const struct watch_item *i, struct str s)
{
	if (i->part > WATCH_CMD)
		return false;
	switch ((enum watch_tag)i->tag) {
	case WATCH_TEXT:
		p->text[i->part] = s;
		return true;
	case WATCH_PATH:
		p->path[i->part] = s;
		p->has_path[i->part] = true;
		return true;
	case WATCH_BASE:
		p->base[i->part] = s;
		p->has_base[i->part] = true;
		return true;
	case WATCH_FILE:
		take_struct(&p->file, sizeof(p->file), s);
		return true;
	case WATCH_ADDR:
		p->addr = s;
		return true;
	case WATCH_SOCK:
		take_struct(&p->sock, sizeof(p->sock), s);
		return true;
	case WATCH_CHILD:
		take_struct(&p->child, sizeof(p->child), s);
		return true;
	case WATCH_DATA:
		if (i->part > WATCH_SECOND)
			return false;
		p->data[i->part] = s;
		return true;
	case WATCH_GROUP:
		/* The unified hierarchy's comes first, and may be the root's */
		if (s.n > p->group.n)
			p->group = s;
		return true;
	}
	return false;
}

static bool take_items(struct parts *p, const char *at, const char *end)
{
	while (at < end) {
		struct watch_item i;

		if ((size_t)(end - at) < sizeof(i))
			return false;
		memcpy(&i, at, sizeof(i));
		at += sizeof(i);
		if ((size_t)(end - at) < i.bytes ||
		    !take_item(p, &i, (struct str){at, i.bytes}))
			return false;
		at += i.bytes;
	}
	return true;
}

/* --- paths ---------------------------------------------------------------- */

char *record_room(struct record *r, size_t n)
{
	char *at = r->text + r->used;

	if (n > RECORD_TEXT_MAX - r->used)
		return NULL;
	r->used += n;
	return at;
}

/* Components, leaf first, as a path from the root. */
static struct str join(struct record *r, struct str leaf_first)
{
	size_t n = leaf_first.n ? leaf_first.n : 1, end = leaf_first.n;
	char *out = record_room(r, n), *at = out;

	if (!out)
		return (struct str){0};
	*at++ = '/';
	while (end > 1) {
		size_t beg = end - 1;

		while (beg > 0 && leaf_first.p[beg - 1] != '\0')
			beg--;
		memcpy(at, leaf_first.p + beg, end - 1 - beg);
		at += end - 1 - beg;
		end = beg;
		if (end > 1)
			*at++ = '/';
	}
	return (struct str){out, (size_t)(at - out)};
}

static struct str without_nul(struct str s)
{
	return s.n && s.p[s.n - 1] == '\0' ? str_slice(s, 0, s.n - 1) : s;
}

/* "/a/b" and "../c" as "/a/c". */
static struct str resolve(struct record *r, struct str base, struct str text)
{
	size_t n = 0;
	char *out = record_room(r, base.n + text.n + 2);
	struct str segment, parts[2] = {base, text};

	if (!out)
		return text;
	for (int i = 0; i < 2; i++)
		while (str_field(&parts[i], '/', &segment)) {
			if (segment.n == 0 || str_is(segment, "."))
				continue;
			if (str_is(segment, "..")) {
				while (n > 0 && out[--n] != '/')
					;
				continue;
			}
			out[n++] = '/';
			memcpy(out + n, segment.p, segment.n);
			n += segment.n;
		}
	if (n == 0)
		out[n++] = '/';
	return (struct str){out, n};
}

/* The path that a part of the event is about. */
static struct str path_of(struct record *r, const struct parts *p,
			  enum watch_part part)
{
	struct str text = without_nul(p->text[part]);

	if (p->has_path[part])
		return join(r, p->path[part]);
	if (p->has_base[part])
		return resolve(r, join(r, p->base[part]), text);
	return text;
}

/* --- values --------------------------------------------------------------- */

static struct value of_int(int64_t i)
{
	return (struct value){VALUE_INT, {.i = i}};
}

static struct value of_uint(uint64_t u)
{
	return (struct value){VALUE_UINT, {.u = u}};
}

static struct value of_bool(bool b)
{
	return (struct value){VALUE_BOOL, {.b = b}};
}

static struct value of_text(struct str s)
{
	return (struct value){VALUE_TEXT, {.s = s}};
}

static struct value of_addr(struct str raw)
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
static struct value of_sock(const struct watch_sock *s, bool peer)
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
static struct value of_number(const char *type, uint64_t u)
{
	if (strcmp(type, "int32") == 0)
		return of_int((int32_t)u);
	if (strcmp(type, "int64") == 0)
		return of_int((int64_t)u);
	if (strcmp(type, "uint16") == 0)
		return of_uint((uint16_t)u);
	if (strcmp(type, "uint32") == 0)
		return of_uint((uint32_t)u);
	return of_uint(u);
}

/* --- processes ------------------------------------------------------------ */

static void make_exec(struct record *r, const struct parts *p)
{
	struct value *v = r->v;

	*v++ = of_text(without_nul(p->text[WATCH_CMD]));
	*v++ = of_text(path_of(r, p, WATCH_FIRST));
	*v++ = of_uint(p->file.dev);
	*v++ = of_uint(p->file.inode);
	*v++ = of_uint(p->file.ctime_ns);
	*v++ = of_uint(p->file.mode);
	*v++ = of_text((struct str){0}); /* interpreter_pathname */
	*v++ = of_uint(0);
	*v++ = of_uint(0);
	*v++ = of_uint(0);
	*v++ = (struct value){VALUE_LIST, {.s = p->text[WATCH_ARGV]}};
	*v++ = of_text(without_nul(p->text[WATCH_INTERP]));
	*v++ = of_uint(0); /* stdin_type */
	*v++ = of_text((struct str){0});
	*v++ = of_bool(false);
	*v++ = of_text((struct str){0});	   /* prev_comm */
	*v++ = (struct value){.kind = VALUE_NONE}; /* env */
	*v++ = of_text(path_of(r, p, WATCH_CWD));
}

static void make_fork(struct record *r, const struct parts *p)
{
	const struct watch_head *h = r->head;
	const struct watch_child *c = &p->child;
	bool leads = h->host_tid == h->host_pid;
	uint64_t ids[][5] = {
		{h->host_tid, h->tid, h->host_pid, h->pid, h->start_ns},
		{c->host_tid, c->tid, c->host_pid, c->pid, c->start_ns},
		{h->host_pid, h->pid, h->host_pid, h->pid,
		 leads ? h->start_ns : 0},
		{c->host_pid, c->pid, c->host_pid, c->pid,
		 c->host_tid == c->host_pid ? c->start_ns : 0},
	};

	for (unsigned i = 0; i < ARRAY_LEN(ids); i++)
		for (unsigned k = 0; k < ARRAY_LEN(ids[0]); k++)
			r->v[i * ARRAY_LEN(ids[0]) + k] =
				k < 4 ? of_int((int64_t)ids[i][k])
				      : of_uint(ids[i][k]);
}

static void make_exit(struct record *r)
{
	uint64_t code = r->head->args[0];

	r->v[0] = of_int((int64_t)((code >> 8) & 0xff));
	r->v[1] = of_int((int64_t)(code & 0x7f));
	r->v[2] = of_bool(r->head->args[1] != 0);
}

/* --- system calls --------------------------------------------------------- */

static void make_open(struct record *r, const struct parts *p)
{
	bool worked = r->ret >= 0;

	r->v[0] = of_text(path_of(r, p, WATCH_FIRST));
	r->v[1] = of_int((int32_t)r->head->args[5]);
	r->v[2] = of_uint(p->file.dev);
	r->v[3] = of_uint(p->file.inode);
	r->v[4] = of_uint(p->file.ctime_ns);
	r->v[5] =
		of_text(without_nul(p->text[worked ? WATCH_CMD : WATCH_FIRST]));
	if (worked)
		r->ret = 0; /* the descriptor is no part of the event */
}

static void make_unlink(struct record *r, const struct parts *p)
{
	r->v[0] = of_text(path_of(r, p, WATCH_FIRST));
	r->v[1] = of_uint(0); /* it is gone */
	r->v[2] = of_uint(0);
	r->v[3] = of_uint(0);
}

static bool is_resolver(const struct value *v)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)&v->addr;

	/* the port is at the same place for both kinds */
	return v->kind == VALUE_ADDR &&
	       (in->sin_family == AF_INET || in->sin_family == AF_INET6) &&
	       in->sin_port == htons(NS_DEFAULTPORT);
}

static bool same_end(const struct sockaddr_storage *a,
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

/*
 * What the process passed may have changed since; where its socket leads, the
 * kernel knows: as it begins to connect, or when it has done so.
 */
static bool leads_elsewhere(const struct record *r, const struct parts *p,
			    const struct value *said)
{
	struct value leads = of_sock(&p->sock, true);

	if (!(r->head->flags & WATCH_SYN) && r->ret != 0 &&
	    r->ret != -EINPROGRESS)
		return false;
	return leads.kind == VALUE_ADDR && p->sock.peer_port != 0 &&
	       !(said->kind == VALUE_ADDR &&
		 same_end(&said->addr, &leads.addr));
}

static void make_connect(struct record *r, const struct parts *p)
{
	r->v[0] = of_int((int32_t)r->head->args[0]);
	r->v[1] = of_int(p->sock.type);
	r->v[2] = of_addr(p->addr);
	if (leads_elsewhere(r, p, &r->v[2]))
		r->v[2] = of_sock(&p->sock, true);
	if (p->sock.type == SOCK_STREAM && is_resolver(&r->v[2]))
		r->asked = (struct asked){ASKED_TCP, p->sock.local_port, 0};
}

static void make_bind(struct record *r, const struct parts *p)
{
	r->v[0] = of_int((int32_t)r->head->args[0]);
	r->v[1] = of_addr(p->addr);
}

static void make_local(struct record *r, const struct parts *p)
{
	r->v[0] = of_int((int32_t)r->head->args[0]);
	r->v[1] = of_sock(&p->sock, false);
	if (r->event == WATCH_EVENT_security_socket_listen)
		r->v[2] = of_int((int32_t)r->head->args[1]);
}

/* The part that argument k of a call was copied as; false: it is a number. */
static bool part_at(const struct watch_call *c, unsigned k,
		    enum watch_part *out)
{
	int first = c->how == WATCH_PATHS ? c->b : c->a;

	if (c->how != WATCH_PATHS && c->how != WATCH_TARGET &&
	    c->how != WATCH_FD)
		return false;
	if ((int)k == c->d && c->how != WATCH_FD) {
		*out = WATCH_SECOND;
		return true;
	}
	*out = WATCH_FIRST;
	return (int)k == first && c->how != WATCH_FD;
}

/* Where the message goes: as said with it, or where its socket leads. */
static struct value destination(const struct parts *p)
{
	struct value v = of_addr(p->addr);

	return v.kind == VALUE_ADDR ? v : of_sock(&p->sock, true);
}

/* A system call under its own name: its arguments, paths made whole. */
static void make_call(struct record *r, const struct parts *p,
		      const struct watch_call *c)
{
	const struct watch_event_info *info = events_info(r->event);

	for (unsigned k = 0; k < info->n_args; k++) {
		const char *type = info->args[k].type;
		enum watch_part part;

		if (strcmp(type, "SockAddr") == 0)
			r->v[k] = destination(p);
		else if (part_at(c, k, &part))
			r->v[k] = of_text(path_of(r, p, part));
		else if (strcmp(type, "string") == 0)
			r->v[k] = of_text((struct str){0});
		else
			r->v[k] = of_number(type, k < 6 ? r->head->args[k] : 0);
	}
}

static void make_rename(struct record *r, const struct parts *p)
{
	r->v[0] = of_text(path_of(r, p, WATCH_FIRST));
	r->v[1] = of_text(path_of(r, p, WATCH_SECOND));
}

static void make_symlink(struct record *r, const struct parts *p)
{
	r->v[0] = of_text(path_of(r, p, WATCH_SECOND));
	r->v[1] = of_text(path_of(r, p, WATCH_FIRST));
}

/* All there is to it is the question. */
static void make_question(struct record *r, const struct parts *p)
{
	(void)r;
	(void)p;
}

/* Of events that have another name than their calls. */
static void (*const makers[WATCH_EVENTS])(struct record *,
					  const struct parts *) = {
	[WATCH_EVENT_security_file_open] = make_open,
	[WATCH_EVENT_security_inode_unlink] = make_unlink,
	[WATCH_EVENT_security_inode_rename] = make_rename,
	[WATCH_EVENT_security_inode_symlink] = make_symlink,
	[WATCH_EVENT_security_socket_connect] = make_connect,
	[WATCH_EVENT_security_socket_bind] = make_bind,
	[WATCH_EVENT_security_socket_listen] = make_local,
	[WATCH_EVENT_security_socket_accept] = make_local,
	[WATCH_EVENT_net_packet_dns_request] = make_question,
};

static bool make_of_call(struct record *r, const struct parts *p)
{
	const struct events_call *call;

	if (r->head->nr >= WATCH_CALLS_MAX)
		return false;
	call = &events_calls()[r->head->nr];
	if (!call->name)
		return false;
	r->event = call->event;
	r->syscall = call->name;
	if (makers[r->event])
		makers[r->event](r, p);
	else
		make_call(r, p, &call->how);
	return true;
}

/* It sends, and connects besides. */
static void make_fast(struct record *r, const struct parts *p)
{
	r->event = WATCH_EVENT_security_socket_connect;
	r->syscall = events_call_name(r->head->nr);
	if (r->ret > 0)
		r->ret = 0;
	make_connect(r, p);
}

static void make_refusal(struct record *r)
{
	r->event = WATCH_EVENT_cap_capable;
	r->syscall = events_call_name(r->head->nr);
	r->v[0] = of_int((int32_t)r->head->args[0]);
}

/* --- messages ------------------------------------------------------------- */

bool record_make(struct record *r, const void *message, size_t bytes)
{
	const struct watch_head *h = message;
	struct parts p;

	if (bytes < sizeof(*h) || h->bytes != bytes)
		return false;
	memset(&p, 0, sizeof(p));
	if (!take_items(&p, (const char *)(h + 1),
			(const char *)message + bytes))
		return false;
	r->head = h;
	r->ret = h->ret;
	r->syscall = "";
	r->used = 0;
	r->group = without_nul(p.group);
	r->asked.by = ASKED_NOT;
	switch ((enum watch_kind)h->kind) {
	case WATCH_EXEC:
		r->event = WATCH_EVENT_sched_process_exec;
		make_exec(r, &p);
		return true;
	case WATCH_FORK:
		r->event = WATCH_EVENT_sched_process_fork;
		make_fork(r, &p);
		return true;
	case WATCH_EXIT:
		r->event = WATCH_EVENT_sched_process_exit;
		make_exit(r);
		return true;
	case WATCH_CALL:
		return make_of_call(r, &p);
	case WATCH_RING:
		if (!make_of_call(r, &p))
			return false;
		r->syscall = "io_uring_enter";
		return true;
	case WATCH_FAST:
		make_fast(r, &p);
		return true;
	case WATCH_RING_FAST:
		make_fast(r, &p);
		r->syscall = "io_uring_enter";
		return true;
	case WATCH_REFUSAL:
		make_refusal(r);
		return true;
	}
	return false;
}

/* --- questions ------------------------------------------------------------ */

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

bool record_add_text(struct record *r, struct str *list, struct str text)
{
	char *at = record_room(r, text.n + 1);

	if (!at)
		return false;
	if (text.n)
		memcpy(at, text.p, text.n);
	at[text.n] = '\0';
	list->n += text.n + 1;
	return true;
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

bool record_question(struct record *r, const void *message, size_t bytes,
		     unsigned n)
{
	const struct watch_head *h = message;
	struct value dst;
	struct parts p;
	struct str text;

	memset(&p, 0, sizeof(p));
	if (bytes < sizeof(*h) || n >= ARRAY_LEN(p.data) ||
	    !take_items(&p, (const char *)(h + 1),
			(const char *)message + bytes))
		return false;
	r->head = h;
	r->event = WATCH_EVENT_net_packet_dns_request;
	r->ret = 0;
	r->syscall = "";
	r->used = 0;
	r->group = (struct str){0};
	dst = destination(&p);
	if (!take_question(r, p.data[n], &text) || dst.kind != VALUE_ADDR)
		return false;
	r->asked =
		(struct asked){ASKED_UDP, p.sock.local_port,
			       (uint16_t)ns_get16((const u_char *)p.data[n].p)};
	r->v[0] = (struct value){.kind = VALUE_PACKET};
	r->v[0].packet.src = of_sock(&p.sock, false).addr;
	r->v[0].packet.dst = dst.addr;
	r->v[0].packet.bytes = (uint32_t)p.data[n].n;
	r->v[1] = (struct value){VALUE_QUESTIONS, {.s = text}};
	return true;
}

const struct value *record_value(const struct record *r, struct str name)
{
	const struct watch_event_info *info = events_info(r->event);

	for (unsigned i = 0; i < info->n_args; i++)
		if (str_is(name, info->args[i].name))
			return &r->v[i];
	return NULL;
}
