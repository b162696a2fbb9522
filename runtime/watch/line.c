#include "runtime/watch/line.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <sys/un.h>
#include <time.h>
#include <yajl/yajl_gen.h>

#define ID_HEX 64u /* of a container's ID */

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
	if (!w->json)
		return err_set(err, -ENOMEM, "no memory for the trace");
	return 0;
}

void line_done(struct line_writer *w)
{
	if (w->json)
		yajl_gen_free(w->json);
	w->json = NULL;
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

static void put_key(yajl_gen g, const char *name)
{
	yajl_gen_string(g, (const unsigned char *)name, strlen(name));
}

/* Of s, the bytes from *at on that are valid; *bad: a byte after them is
 * not. */
static struct str valid_run(struct str s, size_t *at, bool *bad)
{
	size_t beg = *at, n;

	while (*at < s.n && (n = str_utf8(s, *at)) > 0)
		*at += n;
	*bad = *at < s.n;
	return str_slice(s, beg, *at);
}

static void put_text(yajl_gen g, struct str s)
{
	static const char replacement[] = "\xef\xbf\xbd";
	char clean[WATCH_ITEM_MAX];
	size_t at = 0, n = 0;
	bool bad = false;
	struct str run = valid_run(s, &at, &bad);

	if (!bad) {
		yajl_gen_string(g, (const unsigned char *)run.p, run.n);
		return;
	}
	for (;;) {
		if (run.n > sizeof(clean) - n - sizeof(replacement))
			run.n = sizeof(clean) - n - sizeof(replacement);
		memcpy(clean + n, run.p, run.n);
		n += run.n;
		if (!bad || n + 2 * sizeof(replacement) > sizeof(clean))
			break;
		memcpy(clean + n, replacement, 3);
		n += 3;
		at++;
		run = valid_run(s, &at, &bad);
	}
	yajl_gen_string(g, (const unsigned char *)clean, n);
}

static void put_cstr(yajl_gen g, const char *s)
{
	put_text(g, str_of(s));
}

static void put_int(yajl_gen g, int64_t i)
{
	yajl_gen_integer(g, i);
}

static void put_uint(yajl_gen g, uint64_t u)
{
	char text[24];
	int n = snprintf(text, sizeof(text), "%llu", (unsigned long long)u);

	yajl_gen_number(g, text, (size_t)n);
}

static void put_list(yajl_gen g, struct str rest)
{
	struct str one;

	yajl_gen_array_open(g);
	while (rest.n && str_field(&rest, '\0', &one))
		put_text(g, one);
	yajl_gen_array_close(g);
}

static void put_member(yajl_gen g, const char *name, const char *text)
{
	put_key(g, name);
	put_cstr(g, text);
}

static void put_port(yajl_gen g, const char *name, in_port_t port)
{
	char text[8];

	snprintf(text, sizeof(text), "%u", ntohs(port));
	put_member(g, name, text);
}

/* Members are texts, as Tracee has them. */
static void put_addr(yajl_gen g, const struct sockaddr_storage *a)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)a;
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)a;
	const struct sockaddr_un *un = (const struct sockaddr_un *)a;
	char text[INET6_ADDRSTRLEN], number[16];

	yajl_gen_map_open(g);
	switch (a->ss_family) {
	case AF_INET:
		put_member(g, "sa_family", "AF_INET");
		inet_ntop(AF_INET, &in->sin_addr, text, sizeof(text));
		put_member(g, "sin_addr", text);
		put_port(g, "sin_port", in->sin_port);
		break;
	case AF_INET6:
		put_member(g, "sa_family", "AF_INET6");
		inet_ntop(AF_INET6, &in6->sin6_addr, text, sizeof(text));
		put_member(g, "sin6_addr", text);
		put_port(g, "sin6_port", in6->sin6_port);
		snprintf(number, sizeof(number), "%u",
			 ntohl(in6->sin6_flowinfo));
		put_member(g, "sin6_flowinfo", number);
		snprintf(number, sizeof(number), "%u", in6->sin6_scope_id);
		put_member(g, "sin6_scopeid", number);
		break;
	case AF_UNIX:
		put_member(g, "sa_family", "AF_UNIX");
		put_key(g, "sun_path");
		/* of the abstract kind: an '@' stands for the NUL */
		if (un->sun_path[0] == '\0' && un->sun_path[1]) {
			snprintf((char *)(uintptr_t)text, sizeof(text), "@%.*s",
				 (int)sizeof(text) - 2, un->sun_path + 1);
			put_cstr(g, text);
		} else {
			put_text(g,
				 (struct str){un->sun_path,
					      strnlen(un->sun_path,
						      sizeof(un->sun_path))});
		}
		break;
	default:
		snprintf(number, sizeof(number), "%u", a->ss_family);
		put_member(g, "sa_family", number);
	}
	yajl_gen_map_close(g);
}

static void put_number(yajl_gen g, const char *name, uint64_t u);

static void put_end(yajl_gen g, const char *ip, const char *port,
		    const struct sockaddr_storage *a)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)a;
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)a;
	bool v6 = a->ss_family == AF_INET6;
	char text[INET6_ADDRSTRLEN] = "";

	inet_ntop(a->ss_family,
		  v6 ? (const void *)&in6->sin6_addr
		     : (const void *)&in->sin_addr,
		  text, sizeof(text));
	put_member(g, ip, text);
	put_number(g, port, ntohs(v6 ? in6->sin6_port : in->sin_port));
}

/* Tracee's PktMeta. */
static void put_packet(yajl_gen g, const struct value *v)
{
	yajl_gen_map_open(g);
	put_end(g, "src_ip", "src_port", &v->packet.src);
	put_end(g, "dst_ip", "dst_port", &v->packet.dst);
	put_number(g, "protocol", IPPROTO_UDP);
	put_number(g, "packet_len", v->packet.bytes);
	put_member(g, "iface", "any");
	yajl_gen_map_close(g);
}

static void put_questions(yajl_gen g, struct str rest)
{
	static const char *const names[] = {"query", "query_type",
					    "query_class"};
	struct str text;

	yajl_gen_array_open(g);
	yajl_gen_map_open(g);
	for (size_t i = 0;
	     i < ARRAY_LEN(names) && str_field(&rest, '\0', &text); i++) {
		put_key(g, names[i]);
		put_text(g, text);
	}
	yajl_gen_map_close(g);
	yajl_gen_array_close(g);
}

static void put_value(yajl_gen g, const struct value *v)
{
	switch (v->kind) {
	case VALUE_INT:
		put_int(g, v->i);
		return;
	case VALUE_UINT:
		put_uint(g, v->u);
		return;
	case VALUE_BOOL:
		yajl_gen_bool(g, v->b);
		return;
	case VALUE_TEXT:
		put_text(g, v->s);
		return;
	case VALUE_LIST:
		put_list(g, v->s);
		return;
	case VALUE_ADDR:
		put_addr(g, &v->addr);
		return;
	case VALUE_PACKET:
		put_packet(g, v);
		return;
	case VALUE_QUESTIONS:
		put_questions(g, v->s);
		return;
	case VALUE_NONE:
		yajl_gen_null(g);
		return;
	}
}

/* --- lines ---------------------------------------------------------------- */

static void put_number(yajl_gen g, const char *name, uint64_t u)
{
	put_key(g, name);
	put_uint(g, u);
}

static void put_common(struct line_writer *w, const char *id, const char *event,
		       unsigned n_args, int64_t ret, const char *syscall)
{
	yajl_gen g = w->json;

	put_member(g, "hostName", w->host);
	put_member(g, "containerId", w->container);
	put_key(g, "container");
	yajl_gen_map_open(g);
	if (*w->container)
		put_member(g, "id", w->container);
	yajl_gen_map_close(g);
	put_member(g, "eventId", id);
	put_member(g, "eventName", event);
	put_number(g, "argsNum", n_args);
	put_key(g, "returnValue");
	put_int(g, ret);
	put_member(g, "syscall", syscall);
	put_key(g, "stackAddresses");
	yajl_gen_null(g);
}

static void put_process(struct line_writer *w, const struct watch_head *h)
{
	uint64_t epoch = (uint64_t)w->boot_epoch_ns;
	yajl_gen g = w->json;

	put_number(g, "timestamp", epoch + h->time_ns);
	put_number(g, "threadStartTime", epoch + h->start_ns);
	put_number(g, "processorId", h->cpu);
	put_number(g, "processId", h->pid);
	put_number(g, "cgroupId", h->cgroup);
	put_number(g, "threadId", h->tid);
	put_number(g, "parentProcessId", h->ppid);
	put_number(g, "hostProcessId", h->host_pid);
	put_number(g, "hostThreadId", h->host_tid);
	put_number(g, "hostParentProcessId", h->host_ppid);
	put_number(g, "userId", h->uid);
	put_number(g, "mountNamespace", h->mntns);
	put_number(g, "pidNamespace", h->pidns);
	put_key(g, "processName");
	put_text(g, (struct str){h->comm, strnlen(h->comm, WATCH_COMM)});
}

static int end_line(struct line_writer *w, struct err *err)
{
	yajl_gen_map_close(w->json);
	/* The state is a new one; the buffer stays. */
	yajl_gen_reset(w->json, "\n");
	if (line_text(w).p)
		return 0;
	return err_set(err, -ENOMEM, "no memory for the trace");
}

int line_record(struct line_writer *w, const struct record *r, struct err *err)
{
	const struct watch_event_info *info = events_info(r->event);
	yajl_gen g = w->json;

	yajl_gen_map_open(g);
	put_process(w, r->head);
	put_common(w, info->id, info->name, info->n_args, r->ret, r->syscall);
	put_key(g, "contextFlags");
	yajl_gen_map_open(g);
	put_key(g, "containerStarted");
	yajl_gen_bool(g, true);
	put_key(g, "isCompat");
	yajl_gen_bool(g, false);
	yajl_gen_map_close(g);
	put_key(g, "args");
	yajl_gen_array_open(g);
	for (unsigned i = 0; i < info->n_args; i++) {
		yajl_gen_map_open(g);
		put_member(g, "name", info->args[i].name);
		put_member(g, "type", info->args[i].type);
		put_key(g, "value");
		put_value(g, &r->v[i]);
		yajl_gen_map_close(g);
	}
	yajl_gen_array_close(g);
	return end_line(w, err);
}

int line_facts(struct line_writer *w, const char *event,
	       const struct line_fact *facts, size_t n, struct err *err)
{
	struct timespec now;
	yajl_gen g = w->json;

	clock_gettime(CLOCK_REALTIME, &now);
	yajl_gen_map_open(g);
	put_number(g, "timestamp",
		   (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec);
	put_common(w, "0", event, (unsigned)n, 0, "");
	put_key(g, "args");
	yajl_gen_array_open(g);
	for (size_t i = 0; i < n; i++) {
		yajl_gen_map_open(g);
		put_member(g, "name", facts[i].name);
		put_member(g, "type", facts[i].text ? "string" : "uint64");
		put_key(g, "value");
		if (facts[i].text)
			put_cstr(g, facts[i].text);
		else
			put_uint(g, facts[i].number);
		yajl_gen_map_close(g);
	}
	yajl_gen_array_close(g);
	return end_line(w, err);
}

struct str line_text(const struct line_writer *w)
{
	const unsigned char *text = NULL;
	size_t n = 0;

	if (yajl_gen_get_buf(w->json, &text, &n) != yajl_gen_status_ok)
		return (struct str){0};
	return (struct str){(const char *)text, n};
}

void line_clear(struct line_writer *w)
{
	yajl_gen_clear(w->json);
}
