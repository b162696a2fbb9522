#include "runtime/watch/record.h"

#include "runtime/watch/parts.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

/* --- processes ------------------------------------------------------------ */

static void make_exec(struct record *r, const struct parts *p)
{
	struct value *v = r->v;

	*v++ = value_text(parts_text(p->text[WATCH_CMD]));
	*v++ = value_text(parts_path(r, p, WATCH_FIRST));
	*v++ = value_uint(p->file.dev);
	*v++ = value_uint(p->file.inode);
	*v++ = value_uint(p->file.ctime_ns);
	*v++ = value_uint(p->file.mode);
	*v++ = value_text((struct str){0}); /* interpreter_pathname */
	*v++ = value_uint(0);
	*v++ = value_uint(0);
	*v++ = value_uint(0);
	*v++ = (struct value){VALUE_LIST, {.s = p->text[WATCH_ARGV]}};
	*v++ = value_text(parts_text(p->text[WATCH_INTERP]));
	*v++ = value_uint(0); /* stdin_type */
	*v++ = value_text((struct str){0});
	*v++ = value_bool(false);
	*v++ = value_text((struct str){0});	   /* prev_comm */
	*v++ = (struct value){.kind = VALUE_NONE}; /* env */
	*v++ = value_text(parts_path(r, p, WATCH_CWD));
}

/* Nobody's: not known here. */
static struct value epoch_value(const struct record *r, uint64_t start_ns)
{
	return value_uint(start_ns ? (uint64_t)r->boot_epoch_ns + start_ns : 0);
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
				k < 4 ? value_int((int64_t)ids[i][k])
				      : epoch_value(r, ids[i][k]);
}

static void make_exit(struct record *r)
{
	uint64_t code = r->head->args[0];

	r->v[0] = value_int((int64_t)((code >> 8) & 0xff));
	r->v[1] = value_int((int64_t)(code & 0x7f));
	r->v[2] = value_bool(r->head->args[1] != 0);
}

/* --- system calls --------------------------------------------------------- */

static void make_open(struct record *r, const struct parts *p)
{
	/* Beside what was found stands what was asked for. */
	bool found = p->has_path[WATCH_FIRST];

	r->v[0] = value_text(parts_file(r, p));
	r->v[1] = value_int((int32_t)r->head->args[5]);
	r->v[2] = value_uint(p->file.dev);
	r->v[3] = value_uint(p->file.inode);
	r->v[4] = value_uint(p->file.ctime_ns);
	r->v[5] = value_text(
		parts_text(p->text[found ? WATCH_CMD : WATCH_FIRST]));
	if (r->ret >= 0)
		r->ret = 0; /* the descriptor is no part of the event */
}

static void make_unlink(struct record *r, const struct parts *p)
{
	r->v[0] = value_text(parts_path(r, p, WATCH_FIRST));
	r->v[1] = value_uint(0); /* it is gone */
	r->v[2] = value_uint(0);
	r->v[3] = value_uint(0);
}

/*
 * What the process passed may have changed since; where its socket leads, the
 * kernel knows: as it begins to connect, or when it has done so.
 */
static bool leads_elsewhere(const struct record *r, const struct parts *p,
			    const struct value *said)
{
	struct value leads = value_sock(&p->sock, true);

	if (!(r->head->flags & WATCH_SYN) && r->ret != 0 &&
	    r->ret != -EINPROGRESS)
		return false;
	return leads.kind == VALUE_ADDR && p->sock.peer_port != 0 &&
	       !(said->kind == VALUE_ADDR &&
		 value_same_end(&said->addr, &leads.addr));
}

/*
 * Connected to a resolver: whatever comes to its port is for it. Of datagrams
 * that is known where the kernel asks, and each question is not seen: then the
 * port is all by which its answers are told from another's.
 */
static struct asked connection_asked(const struct record *r,
				     const struct watch_sock *s)
{
	bool is_asked = r->head->flags & WATCH_ASKED;
	struct asked a = {ASKED_NOT, true, s->local_port, 0};
	const struct value *to = &r->v[2];

	if (to->kind != VALUE_ADDR || !value_is_resolver(&to->addr) ||
	    (is_asked && !s->local_port))
		return a;
	if (s->type == SOCK_STREAM)
		a.by = ASKED_TCP;
	else if (s->type == SOCK_DGRAM && is_asked)
		a.by = ASKED_UDP;
	return a;
}

static void make_connect(struct record *r, const struct parts *p)
{
	r->v[0] = value_int((int32_t)r->head->args[0]);
	r->v[1] = value_int(p->sock.type);
	r->v[2] = value_addr(p->addr);
	if (leads_elsewhere(r, p, &r->v[2]))
		r->v[2] = value_sock(&p->sock, true);
	r->sport = p->sock.local_port;
	/* none: it has none yet, or any more */
	r->v[3] = r->sport ? value_uint(r->sport)
			   : (struct value){.kind = VALUE_NONE};
	r->asked = connection_asked(r, &p->sock);
}

static void make_bind(struct record *r, const struct parts *p)
{
	r->v[0] = value_int((int32_t)r->head->args[0]);
	r->v[1] = value_addr(p->addr);
}

static void make_local(struct record *r, const struct parts *p)
{
	r->v[0] = value_int((int32_t)r->head->args[0]);
	r->v[1] = value_sock(&p->sock, false);
	if (r->event == WATCH_EVENT_security_socket_listen)
		r->v[2] = value_int((int32_t)r->head->args[1]);
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

/* A system call under its own name: its arguments, paths made whole. */
static void make_call(struct record *r, const struct parts *p,
		      const struct watch_call *c)
{
	const struct watch_event_info *info = events_info(r->event);

	for (unsigned k = 0; k < info->n_args; k++) {
		const char *type = info->args[k].type;
		enum watch_part part;

		if (strcmp(type, "SockAddr") == 0)
			r->v[k] = parts_destination(p);
		else if (part_at(c, k, &part))
			r->v[k] = value_text(parts_path(r, p, part));
		else if (strcmp(type, "string") == 0)
			r->v[k] = value_text((struct str){0});
		else if (type[0] == '[') /* of pointers: nobody read them */
			r->v[k] = (struct value){.kind = VALUE_NONE};
		else
			r->v[k] = value_number(type,
					       k < 6 ? r->head->args[k] : 0);
	}
}

static void make_rename(struct record *r, const struct parts *p)
{
	r->v[0] = value_text(parts_path(r, p, WATCH_FIRST));
	r->v[1] = value_text(parts_path(r, p, WATCH_SECOND));
}

static void make_symlink(struct record *r, const struct parts *p)
{
	r->v[0] = value_text(parts_path(r, p, WATCH_SECOND));
	r->v[1] = value_text(parts_path(r, p, WATCH_FIRST));
}

/* Where it worked, an absolute path leads from the new root: that is it. */
static void make_chroot(struct record *r, const struct parts *p)
{
	bool whole = r->ret == 0 && str_starts(p->text[WATCH_FIRST], STR("/"));

	r->v[0] = value_text(whole ? parts_base(r, p, WATCH_FIRST)
				   : parts_path(r, p, WATCH_FIRST));
}

/* All there is to it is the question. */
static void make_question(struct record *r, const struct parts *p)
{
	(void)r;
	(void)p;
}

/* Of events that have another name than their calls, or other arguments. */
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
	[WATCH_EVENT_chroot] = make_chroot,
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
	r->v[0] = value_int((int32_t)r->head->args[0]);
}

/* --- what is only asked for ----------------------------------------------- */

bool record_is_later(struct str arg)
{
	static const char *const names[] = {
		"dev",	      "inode",	    "ctime",	  "inode_mode",
		"interp",     "stdin_type", "stdin_path", "prev_comm"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (str_is(arg, names[i]))
			return true;
	return str_starts(arg, STR("interpreter_"));
}

/* Nothing stands for what nobody knows, or could not be read. */
static void forget_unknown(struct record *r, const struct parts *p)
{
	const struct watch_event_info *info = events_info(r->event);

	for (unsigned i = 0; i < info->n_args; i++) {
		struct value *v = &r->v[i];
		bool text = v->kind == VALUE_TEXT || v->kind == VALUE_LIST;

		if (record_is_later(str_of(info->args[i].name)) ||
		    (text && !v->s.p) ||
		    (!p->sock.family && strcmp(info->args[i].name, "type") == 0))
			v->kind = VALUE_NONE;
	}
}

/* --- messages ------------------------------------------------------------- */

static bool make_of_kind(struct record *r, const struct parts *p)
{
	switch ((enum watch_kind)r->head->kind) {
	case WATCH_EXEC:
		r->event = WATCH_EVENT_sched_process_exec;
		make_exec(r, p);
		return true;
	case WATCH_FORK:
		r->event = WATCH_EVENT_sched_process_fork;
		make_fork(r, p);
		return true;
	case WATCH_EXIT:
		r->event = WATCH_EVENT_sched_process_exit;
		make_exit(r);
		return true;
	case WATCH_CALL:
		return make_of_call(r, p);
	case WATCH_RING:
		if (!make_of_call(r, p))
			return false;
		r->syscall = "io_uring_enter";
		return true;
	case WATCH_FAST:
		make_fast(r, p);
		return true;
	case WATCH_RING_FAST:
		make_fast(r, p);
		r->syscall = "io_uring_enter";
		return true;
	case WATCH_REFUSAL:
		make_refusal(r);
		return true;
	}
	return false;
}

bool record_make(struct record *r, const void *message, size_t bytes)
{
	const struct watch_head *h = message;
	struct parts p;

	if (bytes < sizeof(*h) || h->bytes != bytes)
		return false;
	memset(&p, 0, sizeof(p));
	if (!parts_take(&p, (const char *)(h + 1),
			(const char *)message + bytes))
		return false;
	r->head = h;
	r->ret = h->ret;
	r->syscall = "";
	r->used = 0;
	r->group = parts_text(p.group);
	r->asked.by = ASKED_NOT;
	r->sport = 0;
	if (!make_of_kind(r, &p))
		return false;
	if (h->flags & WATCH_ASKED) {
		r->syscall = events_call_name(h->nr);
		forget_unknown(r, &p);
	}
	return true;
}

/* --- what is in it -------------------------------------------------------- */

char *record_room(struct record *r, size_t n)
{
	char *at = r->text + r->used;

	if (n > RECORD_TEXT_MAX - r->used)
		return NULL;
	r->used += n;
	return at;
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

const struct value *record_value(const struct record *r, struct str name)
{
	const struct watch_event_info *info = events_info(r->event);

	for (unsigned i = 0; i < info->n_args; i++)
		if (str_is(name, info->args[i].name))
			return &r->v[i];
	return NULL;
}
