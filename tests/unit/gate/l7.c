/*
 * The gate beside HAProxy: log lines, answers of the runtime socket, the lists
 * of certificates, certificates, pins without HAProxy.
 */
#include "compiler/plan/gate.h"
#include "runtime/gate/l7/admin.h"
#include "runtime/gate/l7/clients.h"
#include "runtime/gate/l7/crtlist.h"
#include "runtime/gate/l7/l7log.h"
#include "runtime/gate/l7/pins.h"
#include "runtime/gate/requestless.h"
#include "runtime/gate/record/logline.h"

#include "tests/check.h"

#include <errno.h>
#include <malloc.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

static struct err err;
static struct logline l;

static bool line(const char *text)
{
	static struct logline untouched;
	bool ok;

	memset(&l, 0xff, sizeof(l));
	memset(&untouched, 0xff, sizeof(l));
	ok = logline_parse(str_of(text), &l);
	CHECK(ok || memcmp(&l, &untouched, sizeof(l)) == 0);
	return ok;
}

#define CONN(verdict, reason)                                                  \
	"{\"k\":\"conn\",\"ms\":1,\"verdict\":\"" verdict                      \
	"\",\"reason\":\"" reason "\",\"rule\":\"3\",\"proto\":\"tls\","       \
	"\"addr\":\"203.0.113.11\",\"port\":443,\"up\":432,\"down\":70000,"    \
	"\"name\":\"b.test\"}"

#define WAY(why)                                                               \
	"{\"k\":\"conn\",\"verdict\":\"allow\",\"reason\":\"granted\","        \
	"\"rule\":\"3\",\"name\":\"b.test\",\"way\":\"" why "\"}"

/* Of what is no line no memory is kept, and of no bytes none is read. */
static void no_lines(void)
{
	const size_t page = 65536; /* at least one */
	char *nothing =
		mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t before = mallinfo2().uordblks;

	CHECK(nothing != MAP_FAILED);
	for (unsigned i = 0; i < 300; i++)
		CHECK(!line("{\"k\":\"what\",\"name\":\"a\"}"));
	CHECK(mallinfo2().uordblks < before + 8192);
	CHECK(!logline_parse((struct str){nothing, 0}, &l));
	/* what was refused needs no way; a time is of what was not whole */
	CHECK(line("{\"k\":\"conn\",\"verdict\":\"deny\","
		   "\"reason\":\"denied\",\"way\":\"gh\"}") &&
	      !l.allow && l.reason == REASON_DENIED);
	CHECK(line("{\"k\":\"req\",\"reason\":\"method\",\"status\":408,"
		   "\"err\":\"ab\",\"tlserr\":\"-\"}") &&
	      l.reason == REASON_METHOD && strcmp(l.error, "ab") == 0);
	CHECK(munmap(nothing, page) == 0);
}

/* Bytes with which no character begins: there is no place to cut. */
static void no_characters(void)
{
	char text[600], name[301];

	memset(name, 0x80, 300);
	name[300] = '\0';
	snprintf(text, sizeof(text),
		 "{\"k\":\"conn\",\"verdict\":\"deny\",\"name\":\"%s\"}", name);
	CHECK(line(text) && strcmp(l.name, "…") == 0);
}

/* What is too long shows that it goes on. */
static void long_names(void)
{
	char text[600], name[301];

	for (size_t n = 253; n <= 300; n += 47) {
		memset(name, 'a', n);
		name[n] = '\0';
		snprintf(text, sizeof(text),
			 "{\"k\":\"conn\",\"verdict\":\"deny\","
			 "\"reason\":\"no-grant\",\"name\":\"%s\"}",
			 name);
		CHECK(line(text) && strlen(l.name) == 253);
		CHECK((strcmp(l.name + 250, "…") == 0) == (n > 253));
	}
}

static void connections(void)
{
	CHECK(line(CONN("allow", "granted") "\n") && l.allow && l.tls);
	CHECK(l.kind == LOGLINE_CONNECT && l.reason == REASON_GRANTED);
	CHECK(l.has_addr && l.addr.b[3] == 11 && l.port == 443);
	CHECK(l.up == 432 && l.down == 70000);
	CHECK(strcmp(l.name, "b.test") == 0 && strcmp(l.rule, "3") == 0);
	CHECK(line("{\"k\":\"conn\",\"verdict\":\"l7\",\"sport\":40000,"
		   "\"asked\":\"7\",\"status\":200}") &&
	      l.sport == 40000 && l.asked == 7 && l.status == 200 && !l.tls);
	CHECK(line(CONN("deny", "no-sni")) && !l.allow &&
	      l.reason == REASON_NO_SNI);
	CHECK(line(CONN("deny", "-")) && l.reason == REASON_BAD_REQUEST);
	CHECK(line(CONN("l7", "-")) && l.kind == LOGLINE_REQUESTLESS &&
	      l.allow);
	/* What a proxy did not pass on was granted, and failed. */
	CHECK(line(WAY("-")) && l.allow);
	CHECK(line(WAY("the proxy refuses it (403)")) && !l.allow &&
	      l.reason == REASON_UPSTREAM &&
	      strcmp(l.error, "the proxy refuses it (403)") == 0);
	CHECK(!line(CONN("maybe", "granted")));
	CHECK(!line(CONN("allow", "granted") "x"));
	CHECK(!line(" " CONN("allow", "granted")));
	CHECK(!line("{\"k\":\"other\"}") && !line("{}") && !line("") &&
	      !line("[NOTICE] stopping") && !line("{\"k\":\"conn\""));
	CHECK(line("{\"k\":\"conn\",\"verdict\":\"deny\",\"reason\":\"ech\","
		   "\"addr\":\"x\",\"port\":70000,\"up\":-1,\"down\":\"1\","
		   "\"rule\":\"-\",\"name\":\"-\"}") &&
	      !l.has_addr && l.port == 0 && l.up == 0 && l.down == 0 &&
	      !l.rule[0] && !l.name[0]);
	CHECK(line("{\"k\":\"conn\",\"verdict\":\"deny\",\"addr\":\"2a0e::1\","
		   "\"reason\":\"no-grant\"}") &&
	      l.addr.family == ADDR_V6);
}

#define REQ(reason, status, error) REQ_END(reason, status, error, "SC")
#define REQ_END(reason, status, error, end)                                    \
	"{\"k\":\"req\",\"reason\":\"" reason "\",\"rule\":\"d2\","            \
	"\"status\":" status ",\"tls\":1,\"addr\":\"203.0.113.11\","           \
	"\"port\":443,\"name\":\"a.test\",\"method\":\"GET\","                 \
	"\"path\":\"\\/x\\u0022\",\"end\":\"" end "\",\"err\":\"" error "\"}"

/* The record of a connection by which nobody asked anything. */
static void onwards(void)
{
	static struct requestless o;
	struct logline a = {.sport = 1000}, b = {.sport = 1064}, got;

	requestless_request(&o, &a);
	CHECK(requestless_end(&o, &a, 10) &&
	      !requestless_due(&o, INT64_MAX, &got));
	/* the port is used again, idle */
	CHECK(requestless_end(&o, &a, 10) && !requestless_due(&o, 10, &got));
	CHECK(requestless_end(&o, &b, 20));
	CHECK(requestless_due(&o, 10 + REQUESTLESS_WAIT_MS, &got) &&
	      got.sport == 1000);
	CHECK(!requestless_due(&o, 10 + REQUESTLESS_WAIT_MS, &got));
	/* the request is told of after the end */
	requestless_request(&o, &b);
	CHECK(!requestless_due(&o, INT64_MAX, &got));
	for (unsigned i = 0; i < REQUESTLESS_MAX; i++)
		CHECK(requestless_end(&o, &b, 30));
	CHECK(!requestless_end(&o, &a, 30));
	for (unsigned i = 0; i < REQUESTLESS_MAX; i++)
		CHECK(requestless_due(&o, INT64_MAX, &got) &&
		      got.sport == 1064);
	CHECK(!requestless_due(&o, INT64_MAX, &got));
}

static void requests(void)
{
	char long_line[LOGLINE_MAX + 64] = "{\"k\":\"req\",\"path\":\"";
	size_t n = strlen(long_line);

	CHECK(line(REQ("granted", "200", "")) && l.allow && l.tls &&
	      l.status == 200);
	CHECK(l.kind == LOGLINE_REQUEST && strcmp(l.path, "/x\"") == 0 &&
	      strcmp(l.method, "GET") == 0 && strcmp(l.rule, "d2") == 0);
	CHECK(line(REQ("method", "403", "")) && !l.allow &&
	      l.reason == REASON_METHOD);
	CHECK(line(REQ("granted", "503", "no route")) && !l.allow &&
	      l.reason == REASON_UPSTREAM && strcmp(l.error, "no route") == 0);
	/* what the reader found, and what HAProxy itself refuses */
	CHECK(line("{\"k\":\"req\",\"reason\":\"bad-request\",\"rule\":\"-\","
		   "\"status\":400,\"why\":\"a fold\",\"err\":\"-\","
		   "\"tlserr\":\"-\"}") &&
	      !l.allow && l.reason == REASON_BAD_REQUEST &&
	      strcmp(l.error, "a fold") == 0);
	/* TLS says more than what HAProxy has for it; a proxy says most */
	CHECK(line("{\"k\":\"req\",\"reason\":\"-\",\"err\":\"ab\","
		   "\"tlserr\":\"cd\",\"why\":\"-\",\"way\":\"-\"}") &&
	      strcmp(l.error, "cd") == 0);
	CHECK(line("{\"k\":\"req\",\"reason\":\"-\",\"err\":\"ab\","
		   "\"tlserr\":\"cd\",\"why\":\"ef\",\"way\":\"gh\"}") &&
	      strcmp(l.error, "gh") == 0);
	CHECK(line("{\"k\":\"req\",\"reason\":\"-\",\"rule\":\"-\","
		   "\"status\":408,\"err\":\"-\"}") &&
	      l.reason == REASON_BAD_REQUEST && strstr(l.error, "in time"));
	/* which is nothing of what an origin says */
	CHECK(line(REQ_END("granted", "408", "Success", "--")) && l.allow &&
	      strcmp(l.error, "Success") == 0);
	/* the origin's own 503 is an answer like any other */
	CHECK(line(REQ_END("granted", "503", "Success", "--")) && l.allow);
	CHECK(line(REQ("granted", "503", "")) && !l.allow);
	CHECK(line(REQ_END("granted", "504", "", "sH")) && !l.allow);
	CHECK(line(REQ_END("method", "503", "", "SH")) && !l.allow &&
	      l.reason == REASON_METHOD);
	CHECK(line(REQ_END("granted", "502", "", "PH")) && !l.allow);
	CHECK(line(REQ_END("answered", "502", "", "SH")) && !l.allow);
	/* others are answers, whoever ended it; so is one whose end is not said
	 */
	CHECK(line(REQ_END("granted", "505", "", "SH")) && l.allow);
	CHECK(line(REQ_END("granted", "501", "", "SH")) && l.allow);
	CHECK(line(REQ_END("granted", "503", "", "")) && l.allow);
	CHECK(line(REQ_END("granted", "503", "", "CD")) && l.allow);
	/* nothing was answered: the client broke off while TLS began */
	CHECK(line(REQ("-", "0", "alert")) && !l.allow &&
	      l.reason == REASON_HANDSHAKE && l.kind == LOGLINE_CONNECT &&
	      strcmp(l.error, "alert") == 0);
	CHECK(line(REQ("-", "400", "")) && l.reason == REASON_BAD_REQUEST);
	/* cut between characters, never in one */
	memset(long_line + n, 'a', LOGLINE_PATH_MAX - 1);
	n += LOGLINE_PATH_MAX - 1;
	snprintf(long_line + n, sizeof(long_line) - n, "%s",
		 "\xc3\xa4\xc3\xa4\"}");
	CHECK(line(long_line) && strlen(l.path) == LOGLINE_PATH_MAX - 1);
	/* of so many bytes, and of one more */
	memset(long_line, ' ', sizeof(long_line) - 1);
	memcpy(long_line, "{\"k\":\"conn\",\"verdict\":\"deny\"", 29);
	long_line[LOGLINE_MAX - 1] = '}';
	CHECK(logline_parse((struct str){long_line, LOGLINE_MAX}, &l));
	long_line[LOGLINE_MAX - 1] = ' ';
	long_line[LOGLINE_MAX] = '}';
	CHECK(!logline_parse((struct str){long_line, LOGLINE_MAX + 1}, &l));
}

static bool done(const char *answer, unsigned n, const char *fine)
{
	struct str said;

	return admin_done(str_of(answer), n, fine, &said);
}

static void answers(void)
{
	struct str said;

	CHECK(done("\n", 1, NULL) && done("\n\n\n", 3, NULL));
	CHECK(!done("\n", 2, NULL) && !done("\n\n", 1, NULL));
	CHECK(!done("", 1, NULL) && done("", 0, NULL));
	CHECK(done("\nKey not found.\n\n", 2, "Key not found."));
	CHECK(!done("\nKey not found.\n\n", 2, NULL));
	CHECK(!admin_done(STR("\nUnknown map identifier.\n\n"), 2, NULL,
			  &said) &&
	      str_is(said, "Unknown map identifier."));
	CHECK(!done("\n\nhalf a l", 2, NULL));
}

static int lists(const char *text)
{
	struct str rest = str_of(text);
	struct crtlist_line c;
	int n = 0, rc;

	while ((rc = crtlist_next(&rest, &c, &err)) > 0)
		n++;
	return rc < 0 ? rc : n;
}

static void crt_lists(void)
{
	CHECK(lists("/run/gate/leaf/1.pem a.test *.b.test\n"
		    "/run/gate/leaf/2.pem c.test\n") == 2);
	CHECK(lists("") == 0);
	CHECK(lists("/run/gate/leaf/1.pem a.test") == -EPROTO);
	CHECK(lists("/run/gate/leaf/1.pem\n") == -EPROTO);
	CHECK(lists("/run/gate/leaf/ a.test\n") == -EPROTO);
	CHECK(lists("/run/gate/leaf/../x a.test\n") == -EPROTO);
	CHECK(lists("/run/gate/leaf/a/b a.test\n") == -EPROTO);
	CHECK(lists("/etc/passwd a.test\n") == -EPROTO);
	CHECK(lists("/run/gate/LEAF/1.pem a.test\n") == -EPROTO);
	CHECK(lists("/run/gate/leaf/.1.pem a.test\n") == -EPROTO);
	CHECK(lists("/run/gate/leaf/azAZ-09.pem *.a.test *.b.test\n") == 1);
	for (const char *c = "`{@[/:_"; *c; c++) {
		char text[] = "/run/gate/leaf/1?.pem a.test\n";

		*strchr(text, '?') = *c;
		CHECK_MSG(lists(text) == -EPROTO, "%c", *c);
	}
	CHECK(lists("/run/gate/leaf/1.pem *\n") == -EPROTO);
	CHECK(lists("/run/gate/leaf/1.pem *.*.test\n") == -EPROTO);
	/* of a line without a file none is shown */
	CHECK(lists("/run/gate/leaf/1.pem a.test\n\n") == -EPROTO &&
	      strcmp(err.text, "not a file of ours: ''") == 0);
	CHECK(lists("/run/gate/leaf/1.pem **.a.test\n") == -EPROTO);
	CHECK(lists("/run/gate/leaf/1.pem a.*.test\n") == -EPROTO);
	CHECK(lists("/run/gate/leaf/1.pem  a.test\n") == -EPROTO);
	CHECK(lists("/run/gate/leaf/1.pem a;b\n") == -EPROTO);
}

/* As many names, and as long a file, as there may be. */
static void crt_bounds(void)
{
	char text[2048];

	for (unsigned more = 0; more < 2; more++) {
		int n = sprintf(text, GATE_LEAVES "1.pem");

		for (unsigned i = 0; i < CA_NAMES_MAX + more; i++)
			n += sprintf(text + n, " n%u.test", i);
		sprintf(text + n, "\n");
		CHECK(lists(text) == (more ? -EPROTO : 1));
		sprintf(text, GATE_LEAVES "%0*u a.test\n",
			(int)(CRTLIST_FILE_MAX + more), 1u);
		CHECK(lists(text) == (more ? -EPROTO : 1));
	}
}

/* --- certificates -------------------------------------------------------- */

static X509 *cert_of(const char *pem, EVP_PKEY **out_key)
{
	BIO *b = BIO_new_mem_buf(pem, -1);
	X509 *c = PEM_read_bio_X509(b, NULL, NULL, NULL);

	if (out_key)
		*out_key = PEM_read_bio_PrivateKey(b, NULL, NULL, NULL);
	BIO_free(b);
	return c;
}

static bool is_trusted(const struct ca *ca, X509 *leaf, const char *host)
{
	X509_STORE *store = X509_STORE_new();
	X509_STORE_CTX *ctx = X509_STORE_CTX_new();
	X509_VERIFY_PARAM *p;
	bool ok;

	X509_STORE_add_cert(store, ca->cert);
	X509_STORE_CTX_init(ctx, store, leaf, NULL);
	p = X509_STORE_CTX_get0_param(ctx);
	X509_VERIFY_PARAM_set_flags(p, X509_V_FLAG_X509_STRICT);
	X509_VERIFY_PARAM_set_purpose(p, X509_PURPOSE_SSL_SERVER);
	X509_VERIFY_PARAM_set1_host(p, host, 0);
	ok = X509_verify_cert(ctx) == 1;
	X509_STORE_CTX_free(ctx);
	X509_STORE_free(store);
	return ok;
}

static void certificates(void)
{
	static char leaf[CA_LEAF_MAX];
	char label[64], longest[LIMIT_NAME_BYTES + 1], pem[CA_CERT_MAX];
	struct str names[CA_NAMES_MAX + 1];
	struct ca ca = {0}, other = {0};
	EVP_PKEY *key = NULL;
	X509 *c;
	size_t n;

	memset(label, 'a', 63);
	label[63] = '\0';
	snprintf(longest, sizeof(longest), "%s.%s.%s.%.61s", label, label,
		 label, label);
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		names[i] = str_of(longest);
	names[0] = STR("a.test");
	names[1] = STR("*.b.test");
	CHECK(ca_new(&ca, &err) == 0 && ca_new(&other, &err) == 0);
	CHECK(ca_pem(&ca, pem, &err) == 0 && strstr(pem, "BEGIN CERT"));
	CHECK(!strstr(pem, "PRIVATE"));
	CHECK(ca_leaf(&ca, names, CA_NAMES_MAX, leaf, &n, &err) == 0 &&
	      n == strlen(leaf));
	CHECK(ca_leaf(&ca, names, 0, leaf, &n, &err) == -EINVAL);
	CHECK(ca_leaf(&ca, names, CA_NAMES_MAX + 1, leaf, &n, &err) == -EINVAL);
	c = cert_of(leaf, &key);
	CHECK(c && key && X509_check_private_key(c, key) == 1);
	/* clients refuse a second certificate with the number of another */
	CHECK(ASN1_STRING_length(X509_get0_serialNumber(c)) == 16 &&
	      ASN1_STRING_get0_data(X509_get0_serialNumber(c))[0] >= 0x40);
	CHECK(is_trusted(&ca, c, "a.test") && is_trusted(&ca, c, longest));
	CHECK(is_trusted(&ca, c, "x.b.test"));
	CHECK(!is_trusted(&ca, c, "b.test") && !is_trusted(&ca, c, "c.test"));
	CHECK(!is_trusted(&other, c, "a.test"));
	EVP_PKEY_free(key);
	X509_free(c);
	ca_done(&ca);
	ca_done(&other);
}

/* --- pins ---------------------------------------------------------------- */

static void no_haproxy(void)
{
	static struct pins p;
	struct addr a = {ADDR_V4, {10, 1, 2, 3}};
	const struct addr *v[] = {&a};

	pins_init(&p, "/run/gate/pins.map");
	p.admin = "/nonexistent/admin.sock";
	CHECK(pins_add(&p, STR("a.test"), v, 1, 5, &err) == -ENOENT &&
	      p.n == 0);
	/* nothing that could end a command ever goes out */
	CHECK(pins_add(&p, STR("a;b"), v, 1, 5, &err) == 0 && p.n == 0);
	CHECK(pins_add(&p, STR("a\nb"), v, 1, 5, &err) == 0);
	CHECK(pins_add(&p, STR("a b"), v, 1, 5, &err) == 0);
	CHECK(pins_add(&p, STR(""), v, 1, 5, &err) == 0);
	CHECK(pins_sweep(&p, 1000, &err) == 0);
}

/*
 * A runtime socket that holds no more than a count: of "add map" commands, less
 * those of "del map". It says so to "count", in as many empty lines; commands
 * that are too long for HAProxy are not answered.
 */
static void serve(int listener)
{
	static char buf[ADMIN_BATCH_MAX + 1];
	int held = 0;

	for (;;) {
		int fd = accept(listener, NULL, NULL), lines = 0;
		ssize_t n = 0, got = 1;

		while (got > 0 && !memchr(buf, '\n', (size_t)n))
			n += got =
				read(fd, buf + n, sizeof(buf) - 1 - (size_t)n);
		buf[n] = '\0';
		for (const char *at = buf; at; at = strchr(at, ';')) {
			at += *at == ';';
			held += strncmp(at, "add map /pins ", 14) == 0;
			held -= strncmp(at, "del map /pins ", 14) == 0;
			lines++;
		}
		if (strcmp(buf, "count\n") == 0)
			lines = held;
		while (lines-- > 0 && write(fd, "\n", 1) == 1)
			;
		memset(buf, 0, sizeof(buf));
		close(fd);
	}
}

static size_t held(const char *path)
{
	char answer[ADMIN_ANSWER_MAX];
	size_t n = 0;

	CHECK(admin_ask(path, STR("count\n"), answer, &n, &err) == 0);
	return n;
}

/* What the next one begins with, and what it is told when it answers. */
static void follow(struct pins *p, const char *path)
{
	char file[64];
	FILE *f;
	size_t before = held(path);
	unsigned lines = 0;
	int c;

	snprintf(file, sizeof(file), "%s.map", path);
	CHECK(pins_file(p, file, &err) == 0);
	f = fopen(file, "r");
	while (f && (c = fgetc(f)) != EOF)
		lines += c == '\n';
	CHECK(f && lines == p->n);
	if (f)
		fclose(f);
	unlink(file);
	CHECK(pins_follow(p, path, &err) == 0 && held(path) == before);
	p->v[0].filed = p->v[7].filed = false; /* came later */
	CHECK(pins_follow(p, path, &err) == 0 && held(path) == before + 2);
	/* this one held them already: its count goes back */
	CHECK(admin_do(path, STR("del map /pins a;del map /pins b\n"), 2, NULL,
		       &err) == 0);
}

static void many_pins(const char *path)
{
	static struct pins p;
	static struct addr a[300];
	const struct addr *v[ARRAY_LEN(a)];

	for (size_t i = 0; i < ARRAY_LEN(a); i++) {
		a[i] = (struct addr){
			ADDR_V6,
			{0x2a, 0x0e, [14] = (uint8_t)(i >> 8), (uint8_t)i}};
		v[i] = &a[i];
	}
	pins_init(&p, "/pins");
	/* without an HAProxy only the mirror has it */
	CHECK(pins_add(&p, STR("z.test"), v, 1, 5, &err) == 0 && p.n == 1);
	CHECK(pins_sweep(&p, 5, &err) == 0 && p.n == 0);
	p.admin = path;
	CHECK(pins_add(&p, STR("a.test"), v, ARRAY_LEN(v), 100, &err) == 0);
	CHECK(p.n == 300 && held(path) == 300);
	/* once is enough, and the later end counts */
	CHECK(pins_add(&p, STR("a.test"), v, 10, 200, &err) == 0);
	CHECK(pins_add(&p, STR("a.test"), v, 10, 50, &err) == 0);
	CHECK(pins_add(&p, STR("b.test"), v, 1, 50, &err) == 0);
	CHECK(p.n == 301 && held(path) == 301);
	follow(&p, path);
	CHECK(pins_sweep(&p, 60, &err) == 0 && held(path) == 300);
	CHECK(pins_sweep(&p, 100, &err) == 0);
	CHECK(p.n == 300 - PINS_SWEEP && held(path) == p.n);
	CHECK(pins_sweep(&p, 100, &err) == 0 && p.n == 10 && held(path) == 10);
	CHECK(pins_sweep(&p, 200, &err) == 0 && p.n == 0 && held(path) == 0);
	/* slots are used again */
	CHECK(pins_add(&p, STR("c.test"), v, 300, 9, &err) == 0 &&
	      p.n_ever == 301);
}

/* --- its log -------------------------------------------------------------- */

static unsigned n_told;
static pid_t teller;

static void take_told(void *data, pid_t pid, const struct logline *told)
{
	(void)data;
	teller = pid;
	n_told++;
	CHECK(told->kind == LOGLINE_CONNECT && told->allow);
}

static bool keep_told(void *data)
{
	return l7log_keep(data);
}

/* Says nothing before room for all of its lines was made. */
static void tell_first(int listener, const struct sockaddr_un *to)
{
	static const char text[] = CONN("allow", "granted");
	int fd = accept(listener, NULL, NULL),
	    log = socket(AF_UNIX, SOCK_DGRAM, 0);
	char buf[64];

	if (read(fd, buf, sizeof(buf)) <= 0)
		_exit(1);
	for (unsigned i = 0; i < 2000; i++)
		if (sendto(log, text, sizeof(text) - 1, 0,
			   (const struct sockaddr *)to, sizeof(*to)) < 0)
			_exit(1);
	_exit(write(fd, "\n", 1) != 1);
}

/* What HAProxy waits for while it is waited for itself. */
static void told_meanwhile(const char *dir, int listener, const char *admin)
{
	static struct l7log log = {.fd = -1};
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	int on = 1;
	pid_t pid;

	snprintf(to.sun_path, sizeof(to.sun_path), "%s/log.sock", dir);
	/* l7log_open() would lengthen the queues of this machine, too */
	log.fd = clients_bind(SOCK_DGRAM, to.sun_path, &err);
	CHECK(log.fd >= 0 && setsockopt(log.fd, SOL_SOCKET, SO_PASSCRED, &on,
					sizeof(on)) == 0);
	admin_meanwhile(log.fd, keep_told, &log);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		tell_first(listener, &to);
	}
	CHECK(admin_do(admin, STR("show\n"), 1, NULL, &err) == 0);
	CHECK(log.kept > 0);
	while (l7log_read(&log, take_told, NULL))
		;
	CHECK(n_told == 2000 && teller == pid && log.kept == 0);
	/* there is an end to it */
	log.kept = L7LOG_KEEP - LOGLINE_MAX;
	CHECK(!l7log_keep(&log));
	admin_meanwhile(-1, NULL, NULL);
	waitpid(pid, NULL, 0);
	close(log.fd);
	unlink(to.sun_path);
}

static void fake_haproxy(void)
{
	char dir[] = "/tmp/gate_l7.XXXXXX", path[64];
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	pid_t pid;

	CHECK(mkdtemp(dir) != NULL);
	snprintf(path, sizeof(path), "%s/admin", dir);
	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", path);
	CHECK(bind(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0 &&
	      listen(fd, 8) == 0);
	told_meanwhile(dir, fd, path);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		serve(fd);
	}
	many_pins(path);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(fd);
	unlink(path);
	rmdir(dir);
}

int main(void)
{
	connections();
	no_lines();
	no_characters();
	long_names();
	requests();
	onwards();
	answers();
	crt_lists();
	crt_bounds();
	certificates();
	no_haproxy();
	fake_haproxy();
	return check_status();
}
