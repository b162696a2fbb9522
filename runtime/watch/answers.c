#include "runtime/watch/answers.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_tree.h>

#define ASKED_MAX   1024u
#define WAITING_MAX 64u

struct question {
	struct watch_head who;
	struct asked asked; /* ASKED_NOT: free */
};

struct waiting {
	yajl_val told;
	struct asked asked;
	int64_t until_ms;
};

struct answers {
	int64_t boot_epoch_ns;
	struct question asked[ASKED_MAX]; /* a ring */
	uint32_t next;			  /* that is written over: the oldest */
	struct waiting waiting[WAITING_MAX]; /* the oldest first */
	uint32_t n;
	yajl_val told; /* of the record that was handed out last */
	struct watch_head head;
	uint64_t lost;
};

struct answers *answers_new(int64_t boot_epoch_ns)
{
	struct answers *a = calloc(1, sizeof(*a));

	if (a)
		a->boot_epoch_ns = boot_epoch_ns;
	return a;
}

void answers_free(struct answers *a)
{
	if (!a)
		return;
	for (uint32_t i = 0; i < a->n; i++)
		yajl_tree_free(a->waiting[i].told);
	yajl_tree_free(a->told);
	free(a);
}

uint64_t answers_lost(const struct answers *a)
{
	return a->lost;
}

/* --- who asked ------------------------------------------------------------ */

void answers_asked(struct answers *a, const struct record *r)
{
	if (r->asked.by == ASKED_NOT)
		return;
	a->asked[a->next] = (struct question){*r->head, r->asked};
	a->next = (a->next + 1) % ASKED_MAX;
}

static bool is_by(const struct asked *a, const struct asked *by, uint16_t port)
{
	return a->by == by->by && a->port == port &&
	       (a->all || a->id == by->id);
}

/* The question that has waited longest; the newest connection, which asks more
 * than once. */
static struct question *find_question(struct answers *a, const struct asked *by,
				      uint16_t port)
{
	struct question *newest = NULL;

	for (uint32_t i = 0; i < ASKED_MAX; i++) {
		struct question *q = &a->asked[(a->next + i) % ASKED_MAX];

		if (!is_by(&q->asked, by, port))
			continue;
		if (!q->asked.all)
			return q;
		newest = q;
	}
	return newest;
}

/* A hook may come before the socket has a port: then it is 0. */
static bool take_question(struct answers *a, const struct asked *by,
			  struct watch_head *out)
{
	struct question *q = find_question(a, by, by->port);

	q = q ? q : find_question(a, by, 0);
	if (!q)
		return false;
	*out = q->who;
	if (!q->asked.all)
		q->asked.by = ASKED_NOT;
	return true;
}

/* --- what the gate tells -------------------------------------------------- */

static yajl_val member_of(yajl_val o, const char *name, yajl_type type)
{
	const char *path[] = {name, NULL};

	return yajl_tree_get(o, path, type);
}

static bool take_number(yajl_val o, const char *name, long long max,
			long long *out)
{
	yajl_val v = member_of(o, name, yajl_t_number);

	if (!YAJL_IS_INTEGER(v) || YAJL_GET_INTEGER(v) < 0 ||
	    YAJL_GET_INTEGER(v) > max)
		return false;
	*out = YAJL_GET_INTEGER(v);
	return true;
}

static struct str member_text(yajl_val o, const char *name)
{
	yajl_val v = member_of(o, name, yajl_t_string);

	return v ? str_of(YAJL_GET_STRING(v)) : (struct str){0};
}

static bool take_answer(struct answers *a, yajl_val o, int64_t now_ms)
{
	bool tcp = YAJL_IS_TRUE(member_of(o, "tcp", yajl_t_any));
	struct waiting *w = &a->waiting[a->n];
	long long port, id, ignored;

	if (!take_number(o, "port", UINT16_MAX, &port) ||
	    !take_number(o, "id", UINT16_MAX, &id) ||
	    !take_number(o, "time_ns", INT64_MAX, &ignored) ||
	    !member_of(o, "name", yajl_t_string) ||
	    !member_of(o, "records", yajl_t_array))
		return false;
	*w = (struct waiting){
		o,
		{tcp ? ASKED_TCP : ASKED_UDP, false, (uint16_t)port,
		 (uint16_t)id},
		now_ms + ANSWERS_MS,
	};
	a->n++;
	return true;
}

int answers_take(struct answers *a, struct str line, int64_t now_ms,
		 struct err *err)
{
	char why[64] = "", copy[ANSWERS_LINE_MAX + 1];
	long long missing;
	yajl_val o;

	if (line.n > ANSWERS_LINE_MAX)
		return err_set(err, -EPROTO,
			       "a line about an answer that is too long");
	if (a->n == WAITING_MAX) {
		a->lost++;
		return 0;
	}
	memcpy(copy, line.p, line.n);
	copy[line.n] = '\0';
	o = yajl_tree_parse(copy, why, sizeof(why));
	if (YAJL_IS_OBJECT(o) && take_answer(a, o, now_ms))
		return 0;
	if (YAJL_IS_OBJECT(o) &&
	    take_number(o, "missing", INT64_MAX, &missing)) {
		a->lost += (uint64_t)missing;
		yajl_tree_free(o);
		return 0;
	}
	yajl_tree_free(o);
	return err_set(err, -EPROTO, "a line about an answer that is none");
}

/* --- records -------------------------------------------------------------- */

static void take_end(yajl_val o, const char *addr, const char *port,
		     struct sockaddr_storage *out)
{
	struct sockaddr_in *in = (struct sockaddr_in *)out;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)out;
	const char *s = member_text(o, addr).p;
	long long n = 0;

	memset(out, 0, sizeof(*out));
	(void)take_number(o, port, UINT16_MAX, &n);
	if (s && inet_pton(AF_INET6, s, &in6->sin6_addr) == 1) {
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons((uint16_t)n);
		return;
	}
	in->sin_family = AF_INET;
	in->sin_port = htons((uint16_t)n);
	if (s)
		(void)inet_pton(AF_INET, s, &in->sin_addr);
}

/* What has no room any more is left out as a whole. */
static void take_records(struct record *r, yajl_val list, struct str *out)
{
	for (size_t i = 0; i < list->u.array.len; i++) {
		yajl_val o = list->u.array.values[i];
		struct str whole = *out;
		size_t used = r->used;
		char ttl[24];
		long long n = 0;

		if (!YAJL_IS_OBJECT(o))
			continue;
		(void)take_number(o, "ttl", UINT32_MAX, &n);
		snprintf(ttl, sizeof(ttl), "%lld", n);
		if (record_add_text(r, out, member_text(o, "type")) &&
		    record_add_text(r, out, str_of(ttl)) &&
		    record_add_text(r, out, member_text(o, "data")))
			continue;
		*out = whole;
		r->used = used;
	}
}

static void make_record(struct answers *a, yajl_val o, bool tcp,
			struct record *r)
{
	bool cut = YAJL_IS_TRUE(member_of(o, "cut", yajl_t_any));
	struct str list = {r->text, 0};
	long long n = 0;

	(void)take_number(o, "time_ns", INT64_MAX, &n);
	a->head.time_ns = (uint64_t)(n - a->boot_epoch_ns);
	r->head = &a->head;
	r->event = WATCH_EVENT_net_packet_dns_response;
	r->ret = 0;
	r->syscall = "";
	r->used = 0;
	r->group = (struct str){0};
	r->asked.by = ASKED_NOT;
	r->v[0] = (struct value){.kind = VALUE_PACKET};
	take_end(o, "server", "server_port", &r->v[0].packet.src);
	take_end(o, "client", "port", &r->v[0].packet.dst);
	r->v[0].packet.tcp = tcp;
	n = 0;
	(void)take_number(o, "bytes", UINT32_MAX, &n);
	r->v[0].packet.bytes = (uint32_t)n;
	/* These fit: the line that they are of is shorter than the room. */
	if (record_add_text(r, &list, member_text(o, "name")) &&
	    record_add_text(r, &list, member_text(o, "type")) &&
	    record_add_text(r, &list, member_text(o, "rcode")) &&
	    record_add_text(r, &list, member_text(o, "refused")) &&
	    record_add_text(r, &list, cut ? STR("cut") : STR("")))
		take_records(r, member_of(o, "records", yajl_t_array), &list);
	r->v[1] = (struct value){VALUE_ANSWERS, {.s = list}};
}

/* Nobody's: its thread has started at no time. */
static void no_process(const struct answers *a, struct watch_head *out)
{
	memset(out, 0, sizeof(*out));
	out->start_ns = (uint64_t)-a->boot_epoch_ns;
}

bool answers_next(struct answers *a, int64_t now_ms, bool all,
		  struct record *out)
{
	for (uint32_t i = 0; i < a->n; i++) {
		struct waiting w = a->waiting[i];

		if (!take_question(a, &w.asked, &a->head)) {
			/* The last place is for the next one. */
			if (!all && w.until_ms > now_ms && a->n < WAITING_MAX)
				continue;
			no_process(a, &a->head);
		}
		yajl_tree_free(a->told);
		a->told = w.told;
		a->n--;
		memmove(&a->waiting[i], &a->waiting[i + 1],
			(a->n - i) * sizeof(a->waiting[0]));
		make_record(a, w.told, w.asked.by == ASKED_TCP, out);
		return true;
	}
	return false;
}
