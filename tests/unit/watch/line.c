/* Lines of the trace, to the byte: what is read back is what was recorded. */
#include "runtime/watch/line.h"
#include "tests/check.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#define CONTAINER                                                              \
	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define EXEC_START                                                             \
	"{\"timestamp\":1500,\"threadStartTime\":1200,\"processorId\":3,"      \
	"\"processId\":7,\"cgroupId\":18446744073709551615,\"threadId\":8,"    \
	"\"parentProcessId\":1,\"hostProcessId\":107,\"hostThreadId\":108,"    \
	"\"hostParentProcessId\":101,\"userId\":1000,\"mountNamespace\":11,"   \
	"\"pidNamespace\":12,\"processName\":\"sh\",\"hostName\":\"box\","

static struct line_writer w;
static struct record r;
static struct watch_head head = {
	.time_ns = 500,
	.start_ns = 200,
	.cpu = 3,
	.pid = 7,
	.cgroup = UINT64_MAX,
	.tid = 8,
	.ppid = 1,
	.host_pid = 107,
	.host_tid = 108,
	.host_ppid = 101,
	.uid = 1000,
	.mntns = 11,
	.pidns = 12,
	.comm = "sh",
};

static bool says(const char *part)
{
	struct str text = line_text(&w);

	return memmem(text.p, text.n, part, strlen(part)) != NULL;
}

/* The line with v as an argument; the others are null. */
static void tell(struct value v)
{
	struct err err;

	for (size_t i = 1; i < RECORD_VALUES_MAX; i++)
		r.v[i].kind = VALUE_NONE;
	r.v[0] = v;
	line_clear(&w);
	CHECK(line_record(&w, &r, &err) == 0);
	CHECK(says(EXEC_START) && line_text(&w).p[line_text(&w).n - 1] == '\n');
}

/* Whether a value is written so. */
static bool value_is(struct value v, const char *written)
{
	char part[512];

	tell(v);
	snprintf(part, sizeof(part), ",\"value\":%s},{\"name\":", written);
	return says(part);
}

static struct value text(enum value_kind kind, struct str s)
{
	return (struct value){.kind = kind, .s = s};
}

static void whole_lines(void)
{
	struct err err;

	tell((struct value){.kind = VALUE_NONE});
	CHECK(says("\"containerId\":\"\",\"container\":{},\"eventId\":\""));
	CHECK(says("\"returnValue\":-2,\"syscall\":\"openat\","
		   "\"stackAddresses\":null,\"contextFlags\":{"
		   "\"containerStarted\":true,\"isCompat\":false},\"args\":[{"
		   "\"name\":\""));
	CHECK(says("\"value\":null}]}\n"));
	line_container(&w, STR("docker-" CONTAINER ".scope"));
	tell((struct value){.kind = VALUE_NONE});
	CHECK(says("\"containerId\":\"" CONTAINER
		   "\",\"container\":{\"id\":\"" CONTAINER "\"},"));
	/* The next one follows as a line of its own. */
	CHECK(line_record(&w, &r, &err) == 0);
	CHECK(says("}]}\n" EXEC_START));
}

static void facts(void)
{
	const struct line_fact two[] = {{"back_end", "lsm\n", 0},
					{"lost", NULL, UINT64_MAX}};
	struct err err;

	line_clear(&w);
	CHECK(line_facts(&w, "membrane_end", two, 2, &err) == 0);
	CHECK(says("\"eventId\":\"0\","));
	CHECK(says("\"eventName\":\"membrane_end\",\"argsNum\":2,"
		   "\"returnValue\":0,\"syscall\":\"\",\"stackAddresses\":null,"
		   "\"args\":[{\"name\":\"back_end\",\"type\":\"string\","
		   "\"value\":\"lsm\\n\"},{\"name\":\"lost\",\"type\":"
		   "\"uint64\",\"value\":18446744073709551615}]}\n"));
}

static void numbers(void)
{
	struct value v = {.kind = VALUE_INT, .i = INT64_MIN};

	CHECK(value_is(v, "-9223372036854775808"));
	v.i = INT64_MAX;
	CHECK(value_is(v, "9223372036854775807"));
	v = (struct value){.kind = VALUE_UINT, .u = 0};
	CHECK(value_is(v, "0"));
	v.u = UINT64_MAX;
	CHECK(value_is(v, "18446744073709551615"));
	v = (struct value){.kind = VALUE_BOOL, .b = true};
	CHECK(value_is(v, "true"));
}

static void texts(void)
{
	CHECK(value_is(text(VALUE_TEXT, STR("")), "\"\""));
	CHECK(value_is(text(VALUE_TEXT, STR("/a \"b\"\\\t\x01\x7f")),
		       "\"/a \\\"b\\\"\\\\\\t\\u0001\x7f\""));
	CHECK(value_is(text(VALUE_TEXT, STR("a\0b")), "\"a\\u0000b\""));
	CHECK(value_is(text(VALUE_TEXT, STR("\xc3\xa9\xf0\x9f\x98\x80")),
		       "\"\xc3\xa9\xf0\x9f\x98\x80\""));
	/* byte by byte: a start alone, a surrogate, one cut at the end */
	CHECK(value_is(
		text(VALUE_TEXT, STR("a\xff\"\xc3\xa9\xe2\x82")),
		"\"a\xef\xbf\xbd\\\"\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\""));
	CHECK(value_is(text(VALUE_TEXT, STR("\xed\xa0\x80")),
		       "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""));
	CHECK(value_is(text(VALUE_LIST, STR("")), "[]"));
	CHECK(value_is(text(VALUE_LIST, STR("ls\0-l\0\xff")),
		       "[\"ls\",\"-l\",\"\xef\xbf\xbd\"]"));
}

static void addresses(void)
{
	struct value v = {.kind = VALUE_ADDR};
	struct sockaddr_in *in = (struct sockaddr_in *)&v.addr;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&v.addr;
	struct sockaddr_un *un = (struct sockaddr_un *)&v.addr;

	*in = (struct sockaddr_in){.sin_family = AF_INET,
				   .sin_port = htons(443),
				   .sin_addr.s_addr = htonl(0xc0000201)};
	CHECK(value_is(v, "{\"sa_family\":\"AF_INET\",\"sin_addr\":"
			  "\"192.0.2.1\",\"sin_port\":\"443\"}"));
	*in6 = (struct sockaddr_in6){.sin6_family = AF_INET6,
				     .sin6_port = htons(53),
				     .sin6_addr = IN6ADDR_LOOPBACK_INIT,
				     .sin6_flowinfo = htonl(5),
				     .sin6_scope_id = 4294967295u};
	CHECK(value_is(v, "{\"sa_family\":\"AF_INET6\",\"sin6_addr\":\"::1\","
			  "\"sin6_port\":\"53\",\"sin6_flowinfo\":\"5\","
			  "\"sin6_scopeid\":\"4294967295\"}"));
	*un = (struct sockaddr_un){AF_UNIX, "/run/\xff"};
	CHECK(value_is(v, "{\"sa_family\":\"AF_UNIX\",\"sun_path\":"
			  "\"/run/\xef\xbf\xbd\"}"));
	*un = (struct sockaddr_un){AF_UNIX, "\0bus"};
	CHECK(value_is(v, "{\"sa_family\":\"AF_UNIX\",\"sun_path\":\"@bus\"}"));
	v.addr.ss_family = AF_NETLINK;
	CHECK(value_is(v, "{\"sa_family\":\"AF_NETLINK\"}"));
	v.addr.ss_family = AF_VSOCK;
	CHECK(value_is(v, "{\"sa_family\":\"AF_VSOCK\"}"));
	v.addr.ss_family = AF_UNSPEC;
	CHECK(value_is(v, "{\"sa_family\":\"AF_UNSPEC\"}"));
	v.addr.ss_family = 200;
	CHECK(value_is(v, "{\"sa_family\":\"200\"}"));
}

static void datagrams(void)
{
	struct value v = {.kind = VALUE_PACKET};
	struct sockaddr_in *src = (struct sockaddr_in *)&v.packet.src;
	struct sockaddr_in6 *dst = (struct sockaddr_in6 *)&v.packet.dst;

	*src = (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_port = htons(40000)};
	*dst = (struct sockaddr_in6){.sin6_family = AF_INET6,
				     .sin6_port = htons(53)};
	v.packet.bytes = 61;
	CHECK(value_is(v, "{\"src_ip\":\"0.0.0.0\",\"src_port\":40000,"
			  "\"dst_ip\":\"::\",\"dst_port\":53,\"protocol\":17,"
			  "\"packet_len\":61,\"iface\":\"any\"}"));
	CHECK(value_is(text(VALUE_QUESTIONS, STR("a.example\0A\0IN")),
		       "[{\"query\":\"a.example\",\"query_type\":\"A\","
		       "\"query_class\":\"IN\"}]"));
}

static void answers(void)
{
	CHECK(value_is(text(VALUE_ANSWERS, STR("a.example\0A\0NOERROR\0\0\0"
					       "CNAME\0"
					       "60\0b.example\0A\0"
					       "5\0"
					       "192.0.2.1")),
		       "[{\"query_data\":{\"query\":\"a.example\","
		       "\"query_type\":\"A\",\"query_class\":\"IN\"},"
		       "\"dns_answer\":[{\"answer_type\":\"CNAME\",\"ttl\":60,"
		       "\"answer\":\"b.example\"},{\"answer_type\":\"A\","
		       "\"ttl\":5,\"answer\":\"192.0.2.1\"}],"
		       "\"response_code\":\"NOERROR\"}]"));
	CHECK(value_is(text(VALUE_ANSWERS, STR("b\0A\0REFUSED\0unlisted\0cut")),
		       "[{\"query_data\":{\"query\":\"b\",\"query_type\":\"A\","
		       "\"query_class\":\"IN\"},\"dns_answer\":[],"
		       "\"response_code\":\"REFUSED\",\"refused\":\"unlisted\","
		       "\"truncated\":true}]"));
}

/* More than the first buffer holds, in one text and in many lines. */
static void growth(void)
{
	enum { LONG = 3 << 20 };
	char *s = malloc(LONG);
	struct err err;

	CHECK(s != NULL);
	if (!s)
		return;
	memset(s, '\x01', LONG);
	tell(text(VALUE_TEXT, (struct str){s, LONG}));
	CHECK(line_text(&w).n > 6u * LONG);
	memset(s, '\xff', LONG);
	tell(text(VALUE_TEXT, (struct str){s, LONG}));
	CHECK(line_text(&w).n > 3u * LONG && line_text(&w).n < 4u * LONG);
	free(s);
	tell((struct value){.kind = VALUE_NONE});
	for (size_t n = line_text(&w).n, i = 1; i < 3000; i++) {
		CHECK(line_record(&w, &r, &err) == 0);
		CHECK(line_text(&w).n == (i + 1) * n);
	}
}

int main(void)
{
	struct err err;

	r = (struct record){.head = &head,
			    .event = WATCH_EVENT_security_file_open,
			    .syscall = "openat",
			    .ret = -2};
	if (line_init(&w, "box", &err) < 0)
		return 1;
	w.boot_epoch_ns = 1000;
	whole_lines();
	facts();
	numbers();
	texts();
	addresses();
	datagrams();
	answers();
	growth();
	line_done(&w);
	return check_status();
}
