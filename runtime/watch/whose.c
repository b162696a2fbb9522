#include "runtime/watch/whose.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <yajl/yajl_tree.h>

#define SEEN_MAX    1024u /* what was asked for, of each of both */
#define PROGRAMS    4096u
#define PROBES	    8u /* places where a process's program may be */
#define WAITING_MAX 64u
#define QUERY_MAX   2048u
#define CALLERS_MAX 16u /* that are looked at for one question */

enum seen_kind { SEEN_NOTHING, SEEN_QUESTION, SEEN_CALL, SEEN_PATH };

struct process {
	uint32_t host_pid, host_ppid, pid;
	char comm[WATCH_COMM];
};

struct seen {
	enum seen_kind kind;
	struct process by;
	int64_t at_ms;
	struct sockaddr_storage to; /* of CALL */
	uint16_t sport;
	char text[HELLO_WHOSE_MAX + 1]; /* of QUESTION and PATH */
};

struct program {
	uint32_t host_pid; /* 0: free */
	bool has_ended;
	uint64_t serial; /* which was begun before */
	char command[HELLO_COMMAND_MAX + 1];
};

struct waiting {
	uint32_t id;
	int64_t until_ms;
	enum seen_kind kind;
	bool calls; /* of QUESTION: it is about a connection, after it */
	bool was_looked;	    /* for a socket; once more at the end */
	struct sockaddr_storage to; /* of QUESTION: its port alone */
	uint16_t sport;
	char text[HELLO_WHOSE_MAX + 1];
};

struct ring {
	struct seen v[SEEN_MAX];
	uint32_t next; /* that is written over: the oldest */
};

struct whose {
	whose_has *has;
	struct ring net, paths; /* many files drive no connection out */
	struct program programs[PROGRAMS];
	uint64_t serial;
	struct waiting waiting[WAITING_MAX];
	uint32_t n;
};

struct whose *whose_new(whose_has *has)
{
	struct whose *w = calloc(1, sizeof(*w));

	if (w)
		w->has = has;
	return w;
}

void whose_free(struct whose *w)
{
	free(w);
}

/* --- programs ------------------------------------------------------------- */

static struct program *program_slot(struct whose *w, uint32_t host_pid,
				    uint32_t i)
{
	return &w->programs[(host_pid + i) % PROGRAMS];
}

static struct program *find_program(struct whose *w, uint32_t host_pid)
{
	for (uint32_t i = 0; i < PROBES; i++)
		if (program_slot(w, host_pid, i)->host_pid == host_pid)
			return program_slot(w, host_pid, i);
	return NULL;
}

/* Its own, a free one, that of one that has ended, or the oldest. */
static struct program *make_program(struct whose *w, uint32_t host_pid)
{
	struct program *best = find_program(w, host_pid);

	for (uint32_t i = 0; !best && i < PROBES; i++)
		if (!program_slot(w, host_pid, i)->host_pid)
			best = program_slot(w, host_pid, i);
	for (uint32_t i = 0; !best && i < PROBES; i++)
		if (program_slot(w, host_pid, i)->has_ended)
			best = program_slot(w, host_pid, i);
	if (best)
		return best;
	best = program_slot(w, host_pid, 0);
	for (uint32_t i = 1; i < PROBES; i++)
		if (program_slot(w, host_pid, i)->serial < best->serial)
			best = program_slot(w, host_pid, i);
	return best;
}

static bool is_plain(struct str word)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
		"_-./:=@%+,";

	for (size_t i = 0; i < word.n; i++)
		if (!memchr(plain, word.p[i], sizeof(plain) - 1))
			return false;
	return word.n > 0;
}

static bool put_bytes(char *to, size_t *n, const char *p, size_t len)
{
	if (len > HELLO_COMMAND_MAX - *n)
		return false;
	memcpy(to + *n, p, len);
	*n += len;
	return true;
}

static bool put_word(char *to, size_t *n, struct str word)
{
	if (*n && !put_bytes(to, n, " ", 1))
		return false;
	if (is_plain(word))
		return put_bytes(to, n, word.p, word.n);
	if (!put_bytes(to, n, "'", 1))
		return false;
	for (size_t i = 0; i < word.n; i++)
		if (!(word.p[i] == '\'' ? put_bytes(to, n, "'\\''", 4)
					: put_bytes(to, n, word.p + i, 1)))
			return false;
	return put_bytes(to, n, "'", 1);
}

/*
 * Up to the first word that has no room: half a word might be half a secret,
 * which nobody would know for one.
 */
static void put_command(struct program *p, struct str list)
{
	size_t n = 0, whole = 0;
	struct str word;

	while (str_field(&list, '\0', &word) && put_word(p->command, &n, word))
		whole = n;
	p->command[whole] = '\0';
}

static void begin_program(struct whose *w, const struct record *r)
{
	const struct value *argv = record_value(r, STR("argv"));
	struct program *p = make_program(w, r->head->host_pid);

	*p = (struct program){.host_pid = r->head->host_pid,
			      .serial = ++w->serial};
	if (argv && argv->kind == VALUE_LIST)
		put_command(p, argv->s);
}

/* A process that runs what the one runs that it comes from. */
static const char *command_of(struct whose *w, const struct process *by)
{
	const struct program *p = find_program(w, by->host_pid);

	p = p ? p : find_program(w, by->host_ppid);
	return p ? p->command : "";
}

/* --- what was asked for --------------------------------------------------- */

static struct seen *add_seen(struct whose *w, enum seen_kind kind,
			     const struct record *r, int64_t now_ms)
{
	const struct watch_head *h = r->head;
	struct ring *ring = kind == SEEN_PATH ? &w->paths : &w->net;
	struct seen *s = &ring->v[ring->next];

	ring->next = (ring->next + 1) % SEEN_MAX;
	*s = (struct seen){
		.kind = kind,
		.by = {.host_pid = h->host_pid,
		       .host_ppid = h->host_ppid,
		       .pid = h->pid},
		.at_ms = now_ms,
		.sport = r->sport,
	};
	memcpy(s->by.comm, h->comm, sizeof(s->by.comm));
	return s;
}

static void add_text(struct whose *w, enum seen_kind kind,
		     const struct record *r, struct str text, int64_t now_ms)
{
	struct seen *s;

	if (text.n == 0 || text.n > HELLO_WHOSE_MAX)
		return;
	s = add_seen(w, kind, r, now_ms);
	memcpy(s->text, text.p, text.n);
}

static void saw_question(struct whose *w, const struct record *r,
			 int64_t now_ms)
{
	for (unsigned i = 0; i < events_info(r->event)->n_args; i++) {
		struct str list = r->v[i].s, name;

		if (r->v[i].kind == VALUE_QUESTIONS &&
		    str_field(&list, '\0', &name))
			add_text(w, SEEN_QUESTION, r, name, now_ms);
	}
}

static void saw_address(struct whose *w, const struct record *r, int64_t now_ms)
{
	for (unsigned i = 0; i < events_info(r->event)->n_args; i++)
		if (r->v[i].kind == VALUE_ADDR)
			add_seen(w, SEEN_CALL, r, now_ms)->to = r->v[i].addr;
}

/* As it was found; where that is not known yet, as it is asked for. */
static void saw_path(struct whose *w, const struct record *r, int64_t now_ms)
{
	const struct value *path = record_value(r, STR("pathname"));

	if (!path || path->kind != VALUE_TEXT)
		path = record_value(r, STR("syscall_pathname"));
	if (path && path->kind == VALUE_TEXT)
		add_text(w, SEEN_PATH, r, path->s, now_ms);
}

void whose_saw(struct whose *w, const struct record *r, int64_t now_ms)
{
	struct program *p;

	if (r->event == WATCH_EVENT_sched_process_exec) {
		begin_program(w, r);
	} else if (r->event == WATCH_EVENT_sched_process_exit) {
		p = find_program(w, r->head->host_pid);
		if (p && r->head->host_tid == r->head->host_pid)
			p->has_ended = true;
	} else if (r->event == WATCH_EVENT_net_packet_dns_request) {
		saw_question(w, r, now_ms);
	} else {
		saw_address(w, r, now_ms);
		saw_path(w, r, now_ms);
	}
}

/* --- the launcher's questions --------------------------------------------- */

bool whose_asks(struct str line)
{
	return str_starts(line, STR("{\"event\":\"" HELLO_WHO "\""));
}

static struct str text_of(yajl_val o, const char *name)
{
	const char *path[] = {name, NULL};
	const char *s = YAJL_GET_STRING(yajl_tree_get(o, path, yajl_t_string));

	return s ? str_of(s) : (struct str){0};
}

static uint32_t number_of(yajl_val o, const char *name, long long max)
{
	const char *path[] = {name, NULL};
	yajl_val v = yajl_tree_get(o, path, yajl_t_number);

	return YAJL_IS_INTEGER(v) && YAJL_GET_INTEGER(v) > 0 &&
			       YAJL_GET_INTEGER(v) <= max
		       ? (uint32_t)YAJL_GET_INTEGER(v)
		       : 0;
}

static bool is_true(yajl_val o, const char *name)
{
	const char *path[] = {name, NULL};

	return YAJL_IS_TRUE(yajl_tree_get(o, path, yajl_t_any));
}

/* At the same place for both kinds of addresses. */
static uint16_t port_of(const struct sockaddr_storage *to)
{
	return ntohs(((const struct sockaddr_in *)to)->sin_port);
}

static void take_ports(yajl_val o, struct waiting *x)
{
	struct sockaddr_in *in = (struct sockaddr_in *)&x->to;

	in->sin_port = htons((uint16_t)number_of(o, "port", UINT16_MAX));
	x->sport = (uint16_t)number_of(o, "sport", UINT16_MAX);
}

static bool take_to(yajl_val o, struct waiting *x)
{
	struct sockaddr_in *in = (struct sockaddr_in *)&x->to;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&x->to;
	struct str addr = text_of(o, "addr");

	if (addr.n && inet_pton(AF_INET, addr.p, &in->sin_addr) == 1)
		in->sin_family = AF_INET;
	else if (addr.n && inet_pton(AF_INET6, addr.p, &in6->sin6_addr) == 1)
		in6->sin6_family = AF_INET6;
	else
		return false;
	return true;
}

static bool take_about(yajl_val o, struct waiting *x)
{
	struct str name = text_of(o, "name"), path = text_of(o, "path");
	struct str text = name.n ? name : path;

	if (text.n > HELLO_WHOSE_MAX)
		text.n = 0; /* nothing that was kept is like it */
	if (text.n)
		memcpy(x->text, text.p, text.n);
	x->calls = is_true(o, "calls");
	x->kind = name.n ? SEEN_QUESTION : path.n ? SEEN_PATH : SEEN_CALL;
	take_ports(o, x);
	return x->kind != SEEN_CALL || take_to(o, x);
}

int whose_take(struct whose *w, struct str line, int64_t now_ms,
	       struct err *err)
{
	struct waiting x = {.until_ms = now_ms + WHOSE_WAIT_MS};
	char why[64] = "", copy[QUERY_MAX + 1];
	bool ok = false;
	yajl_val o;

	if (line.n <= QUERY_MAX) {
		memcpy(copy, line.p, line.n);
		copy[line.n] = '\0';
		o = yajl_tree_parse(copy, why, sizeof(why));
		ok = YAJL_IS_OBJECT(o) &&
		     (x.id = number_of(o, "id", UINT32_MAX)) &&
		     take_about(o, &x);
		yajl_tree_free(o);
	}
	if (!ok)
		return err_set(err, -EPROTO,
			       "a question whose something was that is none");
	/* The launcher waits for no answer longer than for one that is late. */
	if (w->n < WAITING_MAX)
		w->waiting[w->n++] = x;
	return 0;
}

/* --- answers -------------------------------------------------------------- */

/* The host's path ends in the workspace's, or is said from there. */
static bool is_path(const char *seen, const char *asked)
{
	size_t n = strlen(seen), m = strlen(asked);

	if (strcmp(seen, asked) == 0)
		return true;
	return m && n > m && seen[n - m - 1] == '/' &&
	       strcmp(seen + n - m, asked) == 0;
}

static bool is_surely(const struct seen *s, const struct waiting *x)
{
	if (s->kind != x->kind)
		return false;
	switch (x->kind) {
	case SEEN_NOTHING:
		return false;
	case SEEN_QUESTION:
		return strcasecmp(s->text, x->text) == 0;
	case SEEN_PATH:
		return is_path(s->text, x->text);
	case SEEN_CALL:
		return x->sport && s->sport == x->sport &&
		       value_same_end(&s->to, &x->to);
	}
	return false;
}

/* Somebody called there; of a name, a resolver. */
static bool is_possibly(const struct seen *s, const struct waiting *x)
{
	if (s->kind != SEEN_CALL)
		return false;
	if (x->kind == SEEN_QUESTION)
		return value_is_resolver(&s->to);
	return x->kind == SEEN_CALL && (s->sport == 0 || x->sport == 0) &&
	       value_same_end(&s->to, &x->to);
}

/* The i-th, the newest first. */
static const struct seen *seen_at(const struct ring *r, uint32_t i)
{
	return &r->v[(r->next + SEEN_MAX - 1 - i) % SEEN_MAX];
}

static const struct seen *find_surely(const struct whose *w,
				      const struct waiting *x)
{
	const struct ring *r = x->kind == SEEN_PATH ? &w->paths : &w->net;

	for (uint32_t i = 0; i < SEEN_MAX; i++)
		if (is_surely(seen_at(r, i), x))
			return seen_at(r, i);
	return NULL;
}

/* Did any other process ask for that name, too? */
static bool is_shared(const struct whose *w, const struct waiting *x,
		      const struct seen *s)
{
	for (uint32_t i = 0; x->calls && i < SEEN_MAX; i++) {
		const struct seen *other = seen_at(&w->net, i);

		if (is_surely(other, x) && other->by.host_pid != s->by.host_pid)
			return true;
	}
	return false;
}

/* The newest of those who possibly did, between these. */
static const struct seen *find_newest(const struct whose *w,
				      const struct waiting *x, int64_t from_ms,
				      int64_t to_ms)
{
	for (uint32_t i = 0; i < SEEN_MAX; i++) {
		const struct seen *s = seen_at(&w->net, i);

		if (s->at_ms >= from_ms && s->at_ms <= to_ms &&
		    is_possibly(s, x))
			return s;
	}
	return NULL;
}

/* Did nobody else just before? */
static bool is_alone(const struct whose *w, const struct waiting *x,
		     const struct seen *s)
{
	for (uint32_t i = 0; i < SEEN_MAX; i++) {
		const struct seen *other = seen_at(&w->net, i);

		if (other->by.host_pid != s->by.host_pid &&
		    other->at_ms <= s->at_ms &&
		    other->at_ms > s->at_ms - WHOSE_NEAR_MS &&
		    is_possibly(other, x))
			return false;
	}
	return true;
}

/* The last before we were asked; what came behind that may be late. */
static const struct seen *find_last(const struct whose *w,
				    const struct waiting *x)
{
	int64_t asked_ms = x->until_ms - WHOSE_WAIT_MS;
	const struct seen *s =
		find_newest(w, x, asked_ms - WHOSE_LAST_MS, asked_ms);

	s = s ? s : find_newest(w, x, asked_ms, x->until_ms);
	return s && is_alone(w, x, s) ? s : NULL;
}

struct callers {
	uint32_t host_pid[CALLERS_MAX], n;
};

/* True: there is room, and it was not there. */
static bool add_caller(struct callers *c, uint32_t host_pid)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (c->host_pid[i] == host_pid)
			return false;
	if (c->n == CALLERS_MAX)
		return false;
	c->host_pid[c->n++] = host_pid;
	return true;
}

/* Of those who called such a port lately, the only one that has the socket. A
 * port of one's own two processes can have, to different ends. */
static const struct seen *find_owner(const struct whose *w,
				     const struct waiting *x)
{
	int64_t from_ms = x->until_ms - WHOSE_WAIT_MS - WHOSE_LAST_MS;
	const struct seen *owner = NULL;
	struct callers callers = {.n = 0};

	if (!w->has || !x->sport)
		return NULL;
	for (uint32_t i = 0; i < SEEN_MAX; i++) {
		const struct seen *s = seen_at(&w->net, i);

		if (s->kind != SEEN_CALL || s->at_ms < from_ms ||
		    port_of(&s->to) != port_of(&x->to) ||
		    !add_caller(&callers, s->by.host_pid) ||
		    !w->has(s->by.host_pid, x->sport, port_of(&x->to)))
			continue;
		if (owner)
			return NULL;
		owner = s;
	}
	return owner;
}

static void put_answer(struct whose *w, const struct waiting *x,
		       const struct seen *s, enum hello_sure sure,
		       struct whose_answer *out)
{
	*out = (struct whose_answer){.id = x->id, .sure = sure};
	if (!s)
		return;
	out->pid = s->by.pid;
	memcpy(out->comm, s->by.comm, sizeof(out->comm));
	out->comm[sizeof(out->comm) - 1] = '\0';
	snprintf(out->command, sizeof(out->command), "%s",
		 command_of(w, &s->by));
}

bool whose_next(struct whose *w, int64_t now_ms, bool all,
		struct whose_answer *out)
{
	for (uint32_t i = 0; i < w->n; i++) {
		struct waiting x = w->waiting[i];
		bool is_last = all || x.until_ms <= now_ms;
		const struct seen *s = find_surely(w, &x);
		enum hello_sure sure = HELLO_SURELY;

		if (!s && (is_last || !x.was_looked))
			s = find_owner(w, &x);
		w->waiting[i].was_looked = true;
		if (!s && !is_last)
			continue;
		if (!s) {
			s = find_last(w, &x);
			sure = s ? HELLO_PROBABLY : HELLO_NOBODY;
		} else if (s->kind == x.kind && is_shared(w, &x, s)) {
			sure = HELLO_PROBABLY;
		}
		w->n--;
		memmove(&w->waiting[i], &w->waiting[i + 1],
			(w->n - i) * sizeof(w->waiting[0]));
		put_answer(w, &x, s, sure, out);
		return true;
	}
	return false;
}
