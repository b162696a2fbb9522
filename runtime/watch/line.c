#include "runtime/watch/line.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <time.h>
#include <yajl/yajl_gen.h>

#define ID_HEX	    64u /* of a container's ID */
#define ROOM_FIRST  (1u << 20)
#define DECIMAL_MAX 20u /* digits of 64 bits */

/* --- the text ------------------------------------------------------------- */

static bool grow_line(struct line_writer *w, size_t n)
{
	size_t more = w->room;
	char *text;

	while (n > more - w->n)
		more *= 2;
	text = w->failed ? NULL : realloc(w->text, more);
	if (!text) {
		w->failed = true;
		return false;
	}
	w->text = text;
	w->room = more;
	return true;
}

/* What the library writes, several hundred times a line. */
static void on_print(void *ctx, const char *text, size_t n)
{
	struct line_writer *w = ctx;

	if (n > w->room - w->n && !grow_line(w, n))
		return;
	if (n == 1)
		w->text[w->n] = *text;
	else if (n)
		memcpy(w->text + w->n, text, n);
	w->n += n;
}

int line_init(struct line_writer *w, const char *host, struct err *err)
{
	struct timespec boot, real;

	memset(w, 0, sizeof(*w));
	clock_gettime(CLOCK_BOOTTIME, &boot);
	clock_gettime(CLOCK_REALTIME, &real);
	w->boot_epoch_ns = (real.tv_sec - boot.tv_sec) * 1000000000LL +
			   real.tv_nsec - boot.tv_nsec;
	snprintf(w->host, sizeof(w->host), "%s", host);
	w->json = yajl_gen_alloc(NULL);
	w->text = malloc(ROOM_FIRST);
	w->room = ROOM_FIRST;
	if (!w->json || !w->text)
		return err_set(err, -ENOMEM, "no memory for the trace");
	yajl_gen_config(w->json, yajl_gen_print_callback, on_print, w);
	return 0;
}

void line_done(struct line_writer *w)
{
	if (w->json)
		yajl_gen_free(w->json);
	free(w->text);
	w->json = NULL;
	w->text = NULL;
}

void line_container(struct line_writer *w, struct str group)
{
	size_t n = 0;

	/* "docker-ID.scope", "libpod-ID.scope", or the ID alone */
	for (size_t i = 0; i < group.n; i++) {
		n = isxdigit((unsigned char)group.p[i]) ? n + 1 : 0;
		if (n < ID_HEX)
			continue;
		memcpy(w->container, group.p + i + 1 - ID_HEX, ID_HEX);
		w->container[ID_HEX] = '\0';
		return;
	}
}

/* --- values --------------------------------------------------------------- */

/* Of this program or made valid: the library is not asked to look at it. */
static void put_valid(struct line_writer *w, struct str s)
{
	yajl_gen_string(w->json, (const unsigned char *)s.p, s.n);
}

/* What is no UTF-8 becomes U+FFFD, byte by byte. */
static void put_mended(struct line_writer *w, struct str s, size_t valid)
{
	static const char replacement[] = "\xef\xbf\xbd";
	const size_t wide = sizeof(replacement) - 1;
	char *text = malloc(wide * s.n);
	size_t n = valid, one;

	if (!text) {
		w->failed = true;
		return;
	}
	memcpy(text, s.p, valid);
	for (size_t i = valid; i < s.n; i += one ? one : 1) {
		one = str_utf8(s, i);
		memcpy(text + n, one ? s.p + i : replacement, one ? one : wide);
		n += one ? one : wide;
	}
	put_valid(w, (struct str){text, n});
	free(text);
}

static void put_text(struct line_writer *w, struct str s)
{
	size_t i = 0, one;

	while (i < s.n) {
		one = (unsigned char)s.p[i] < 0x80 ? 1 : str_utf8(s, i);
		if (one == 0) {
			put_mended(w, s, i);
			return;
		}
		i += one;
	}
	put_valid(w, s);
}

/* The library's integers are signed, and take it a call of sprintf() each. */
static struct str decimal_text(char digits[DECIMAL_MAX], uint64_t u)
{
	char *end = digits + DECIMAL_MAX, *at = end;

	do
		*--at = (char)('0' + u % 10);
	while (u /= 10);
	return (struct str){at, (size_t)(end - at)};
}

static void put_uint(struct line_writer *w, uint64_t u)
{
	char digits[DECIMAL_MAX];
	struct str s = decimal_text(digits, u);

	yajl_gen_number(w->json, s.p, s.n);
}

static void put_int(struct line_writer *w, int64_t i)
{
	if (i < 0)
		yajl_gen_integer(w->json, i);
	else
		put_uint(w, (uint64_t)i);
}

static void put_member(struct line_writer *w, struct str name, struct str text)
{
	put_valid(w, name);
	put_text(w, text);
}

static void put_number(struct line_writer *w, struct str name, uint64_t u)
{
	put_valid(w, name);
	put_uint(w, u);
}

static void put_bool(struct line_writer *w, struct str name, bool b)
{
	put_valid(w, name);
	yajl_gen_bool(w->json, b);
}

/* A number as a text: so Tracee has the members of an address. */
static void put_quoted(struct line_writer *w, struct str name, uint64_t u)
{
	char digits[DECIMAL_MAX];

	put_valid(w, name);
	put_valid(w, decimal_text(digits, u));
}

static void put_list(struct line_writer *w, struct str rest)
{
	struct str one;

	yajl_gen_array_open(w->json);
	while (rest.n && str_field(&rest, '\0', &one))
		put_text(w, one);
	yajl_gen_array_close(w->json);
}

static void put_unix(struct line_writer *w, const struct sockaddr_un *un)
{
	size_t n = strnlen(un->sun_path, sizeof(un->sun_path));
	char text[sizeof(un->sun_path)];

	/* of the abstract kind: an '@' stands for the NUL */
	if (n == 0 && un->sun_path[1]) {
		n = 1 + strnlen(un->sun_path + 1, sizeof(text) - 1);
		memcpy(text, un->sun_path, n);
		text[0] = '@';
		put_member(w, STR("sun_path"), (struct str){text, n});
		return;
	}
	put_member(w, STR("sun_path"), (struct str){un->sun_path, n});
}

static struct str address_text(char text[INET6_ADDRSTRLEN], int family,
			       const void *from)
{
	inet_ntop(family, from, text, INET6_ADDRSTRLEN);
	return str_of(text);
}

static void put_family(struct line_writer *w, unsigned family)
{
	const char *name = value_family(family);

	if (name)
		put_member(w, STR("sa_family"), str_of(name));
	else
		put_quoted(w, STR("sa_family"), family);
}

static void put_addr(struct line_writer *w, const struct sockaddr_storage *a)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)a;
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)a;
	char text[INET6_ADDRSTRLEN] = "";

	yajl_gen_map_open(w->json);
	switch (a->ss_family) {
	case AF_INET:
		put_member(w, STR("sa_family"), STR("AF_INET"));
		put_member(w, STR("sin_addr"),
			   address_text(text, AF_INET, &in->sin_addr));
		put_quoted(w, STR("sin_port"), ntohs(in->sin_port));
		break;
	case AF_INET6:
		put_member(w, STR("sa_family"), STR("AF_INET6"));
		put_member(w, STR("sin6_addr"),
			   address_text(text, AF_INET6, &in6->sin6_addr));
		put_quoted(w, STR("sin6_port"), ntohs(in6->sin6_port));
		put_quoted(w, STR("sin6_flowinfo"), ntohl(in6->sin6_flowinfo));
		put_quoted(w, STR("sin6_scopeid"), in6->sin6_scope_id);
		break;
	case AF_UNIX:
		put_member(w, STR("sa_family"), STR("AF_UNIX"));
		put_unix(w, (const struct sockaddr_un *)a);
		break;
	default:
		put_family(w, a->ss_family);
	}
	yajl_gen_map_close(w->json);
}

static void put_end(struct line_writer *w, struct str ip, struct str port,
		    const struct sockaddr_storage *a)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)a;
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)a;
	bool v6 = a->ss_family == AF_INET6;
	char text[INET6_ADDRSTRLEN] = "";

	put_member(w, ip,
		   address_text(text, a->ss_family,
				v6 ? (const void *)&in6->sin6_addr
				   : (const void *)&in->sin_addr));
	put_number(w, port, ntohs(v6 ? in6->sin6_port : in->sin_port));
}

/* Tracee's PktMeta. */
static void put_packet(struct line_writer *w, const struct value *v)
{
	yajl_gen_map_open(w->json);
	put_end(w, STR("src_ip"), STR("src_port"), &v->packet.src);
	put_end(w, STR("dst_ip"), STR("dst_port"), &v->packet.dst);
	put_number(w, STR("protocol"),
		   v->packet.tcp ? IPPROTO_TCP : IPPROTO_UDP);
	put_number(w, STR("packet_len"), v->packet.bytes);
	put_member(w, STR("iface"), STR("any"));
	yajl_gen_map_close(w->json);
}

static void put_questions(struct line_writer *w, struct str rest)
{
	static const struct str names[] = {STR_INIT("query"),
					   STR_INIT("query_type"),
					   STR_INIT("query_class")};
	struct str text;

	yajl_gen_array_open(w->json);
	yajl_gen_map_open(w->json);
	for (size_t i = 0;
	     i < ARRAY_LEN(names) && str_field(&rest, '\0', &text); i++)
		put_member(w, names[i], text);
	yajl_gen_map_close(w->json);
	yajl_gen_array_close(w->json);
}

/*
 * Tracee's DnsResponseData, and what it leaves out: the code, and why the gate
 * refused it.
 */
static void put_answers(struct line_writer *w, struct str rest)
{
	struct str name, type, code, refused, cut, ttl, data;

	str_field(&rest, '\0', &name);
	str_field(&rest, '\0', &type);
	str_field(&rest, '\0', &code);
	str_field(&rest, '\0', &refused);
	str_field(&rest, '\0', &cut);
	yajl_gen_array_open(w->json);
	yajl_gen_map_open(w->json);
	put_valid(w, STR("query_data"));
	yajl_gen_map_open(w->json);
	put_member(w, STR("query"), name);
	put_member(w, STR("query_type"), type);
	put_member(w, STR("query_class"), STR("IN"));
	yajl_gen_map_close(w->json);
	put_valid(w, STR("dns_answer"));
	yajl_gen_array_open(w->json);
	while (str_field(&rest, '\0', &type) && str_field(&rest, '\0', &ttl) &&
	       str_field(&rest, '\0', &data)) {
		yajl_gen_map_open(w->json);
		put_member(w, STR("answer_type"), type);
		put_valid(w, STR("ttl"));
		yajl_gen_number(w->json, ttl.p, ttl.n);
		put_member(w, STR("answer"), data);
		yajl_gen_map_close(w->json);
	}
	yajl_gen_array_close(w->json);
	put_member(w, STR("response_code"), code);
	if (refused.n)
		put_member(w, STR("refused"), refused);
	if (cut.n)
		put_bool(w, STR("truncated"), true);
	yajl_gen_map_close(w->json);
	yajl_gen_array_close(w->json);
}

static void put_value(struct line_writer *w, const struct value *v)
{
	switch (v->kind) {
	case VALUE_INT:
		put_int(w, v->i);
		return;
	case VALUE_UINT:
		put_uint(w, v->u);
		return;
	case VALUE_BOOL:
		yajl_gen_bool(w->json, v->b);
		return;
	case VALUE_TEXT:
		put_text(w, v->s);
		return;
	case VALUE_LIST:
		put_list(w, v->s);
		return;
	case VALUE_ADDR:
		put_addr(w, &v->addr);
		return;
	case VALUE_PACKET:
		put_packet(w, v);
		return;
	case VALUE_QUESTIONS:
		put_questions(w, v->s);
		return;
	case VALUE_ANSWERS:
		put_answers(w, v->s);
		return;
	case VALUE_NONE:
		yajl_gen_null(w->json);
		return;
	}
}

/* --- lines ---------------------------------------------------------------- */

/* A number that nobody knows is null. */
static void put_known(struct line_writer *w, struct str name, bool known,
		      uint64_t u)
{
	put_valid(w, name);
	if (known)
		put_uint(w, u);
	else
		yajl_gen_null(w->json);
}

/* ret: NULL for a call that has not come back. */
static void put_common(struct line_writer *w, struct str id, struct str event,
		       unsigned n_args, const int64_t *ret, struct str syscall)
{
	put_member(w, STR("hostName"), str_of(w->host));
	put_member(w, STR("containerId"), str_of(w->container));
	put_valid(w, STR("container"));
	yajl_gen_map_open(w->json);
	if (*w->container)
		put_member(w, STR("id"), str_of(w->container));
	yajl_gen_map_close(w->json);
	put_member(w, STR("eventId"), id);
	put_member(w, STR("eventName"), event);
	put_number(w, STR("argsNum"), n_args);
	put_valid(w, STR("returnValue"));
	if (ret)
		put_int(w, *ret);
	else
		yajl_gen_null(w->json);
	put_member(w, STR("syscall"), syscall);
	put_valid(w, STR("stackAddresses"));
	yajl_gen_null(w->json);
}

static void put_process(struct line_writer *w, const struct watch_head *h)
{
	uint64_t epoch = (uint64_t)w->boot_epoch_ns;
	bool known = !(h->flags & WATCH_ASKED);

	put_number(w, STR("timestamp"), epoch + h->time_ns);
	put_known(w, STR("threadStartTime"), known, epoch + h->start_ns);
	put_known(w, STR("processorId"), known, h->cpu);
	put_number(w, STR("processId"), h->pid);
	put_known(w, STR("cgroupId"), known, h->cgroup);
	put_number(w, STR("threadId"), h->tid);
	put_number(w, STR("parentProcessId"), h->ppid);
	put_number(w, STR("hostProcessId"), h->host_pid);
	put_number(w, STR("hostThreadId"), h->host_tid);
	put_number(w, STR("hostParentProcessId"), h->host_ppid);
	put_number(w, STR("userId"), h->uid);
	put_known(w, STR("mountNamespace"), known, h->mntns);
	put_known(w, STR("pidNamespace"), known, h->pidns);
	put_member(w, STR("processName"),
		   (struct str){h->comm, strnlen(h->comm, WATCH_COMM)});
}

static void put_arg(struct line_writer *w, const char *name, const char *type)
{
	yajl_gen_map_open(w->json);
	put_valid(w, STR("name"));
	put_valid(w, str_of(name));
	put_valid(w, STR("type"));
	put_valid(w, str_of(type));
	put_valid(w, STR("value"));
}

/* A line that there is no memory for is none: the writer stays whole. */
static int end_line(struct line_writer *w, size_t begun, struct err *err)
{
	yajl_gen_array_close(w->json);
	yajl_gen_map_close(w->json);
	/* The state is a new one, whatever became of the text. */
	yajl_gen_reset(w->json, "\n");
	if (!w->failed)
		return 0;
	w->failed = false;
	w->n = begun;
	return err_set(err, -ENOMEM, "no memory for the trace");
}

int line_record(struct line_writer *w, const struct record *r, struct err *err)
{
	const struct watch_event_info *info = events_info(r->event);
	bool ended = !(r->head->flags & WATCH_ASKED);
	size_t begun = w->n;

	yajl_gen_map_open(w->json);
	put_process(w, r->head);
	put_common(w, str_of(info->id), str_of(info->name), info->n_args,
		   ended ? &r->ret : NULL, str_of(r->syscall));
	put_valid(w, STR("contextFlags"));
	yajl_gen_map_open(w->json);
	put_bool(w, STR("containerStarted"), true);
	put_bool(w, STR("isCompat"), r->head->flags & WATCH_COMPAT);
	yajl_gen_map_close(w->json);
	put_valid(w, STR("args"));
	yajl_gen_array_open(w->json);
	for (unsigned i = 0; i < info->n_args; i++) {
		put_arg(w, info->args[i].name, info->args[i].type);
		put_value(w, &r->v[i]);
		yajl_gen_map_close(w->json);
	}
	return end_line(w, begun, err);
}

int line_facts(struct line_writer *w, const char *event,
	       const struct line_fact *facts, size_t n, struct err *err)
{
	const int64_t ret = 0;
	size_t begun = w->n;
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	yajl_gen_map_open(w->json);
	put_number(w, STR("timestamp"),
		   (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec);
	put_common(w, STR("0"), str_of(event), (unsigned)n, &ret,
		   STR(""));
	put_valid(w, STR("args"));
	yajl_gen_array_open(w->json);
	for (size_t i = 0; i < n; i++) {
		put_arg(w, facts[i].name, facts[i].text ? "string" : "uint64");
		if (facts[i].text)
			put_text(w, str_of(facts[i].text));
		else
			put_uint(w, facts[i].number);
		yajl_gen_map_close(w->json);
	}
	return end_line(w, begun, err);
}

struct str line_text(const struct line_writer *w)
{
	return (struct str){w->text, w->n};
}

void line_clear(struct line_writer *w)
{
	w->n = 0;
}
