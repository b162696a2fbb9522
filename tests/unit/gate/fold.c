/* Refusals under pressure, and the queue that leaves room for what is not. */
#include "runtime/gate/record/fold.h"
#include "runtime/gate/record/outlog.h"
#include "tests/check.h"

#include <cjson/cJSON.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static struct fold fold;
static struct packet packet = {.proto = IPPROTO_TCP, .has_port = true};

static struct record refusal(uint16_t port, uint16_t sport, time_t at)
{
	struct record r = {.kind = RECORD_CONNECT,
			   .reason = REASON_NO_GRANT,
			   .packet = &packet,
			   .time = {.tv_sec = at}};

	addr_parse(STR("192.0.2.1"), &packet.dst);
	packet.dport = port;
	packet.sport = sport;
	return r;
}

static double number_in(const cJSON *o, const char *key)
{
	return cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(o, key));
}

static void alike_are_one(void)
{
	char line[RECORD_MAX], text[ADDR_TEXT_MAX];
	struct timespec last = {.tv_sec = 1003};
	struct record r;
	cJSON *o;
	size_t n;

	for (uint16_t i = 0; i < 4; i++) {
		r = refusal(443, 40000 + i, 1000 + i);
		CHECK(fold_add(&fold, &r));
	}
	r = refusal(80, 1, 2000);
	CHECK(fold_add(&fold, &r) && fold.n == 2);
	n = fold_take(&fold, line);
	o = cJSON_ParseWithLength(line, n);
	CHECK(n > 0 && line[n - 1] == '\n' && number_in(o, "count") == 4);
	CHECK(number_in(o, "port") == 443);
	CHECK(!cJSON_HasObjectItem(o, "sport"));
	CHECK(strcmp(cJSON_GetObjectItem(o, "time")->valuestring,
		     clock_text(&last, text)) == 0);
	cJSON_Delete(o);
	n = fold_take(&fold, line);
	o = cJSON_ParseWithLength(line, n);
	CHECK(number_in(o, "port") == 80 && !cJSON_HasObjectItem(o, "count"));
	cJSON_Delete(o);
	CHECK(fold_take(&fold, line) == 0);
	/* where others were it is counted anew */
	r = refusal(22, 1, 3000);
	CHECK(fold_add(&fold, &r));
	n = fold_take(&fold, line);
	CHECK(n > 0 && !memmem(line, n, "count", 5));
}

/* How much each moved is no difference, nor is what cannot be written a line. */
static void of_flows(void)
{
	static char name[RECORD_MAX + 1];
	struct logline l = {.up = 1, .down = 2};
	struct record r = {
		.kind = RECORD_REQUEST, .reason = REASON_METHOD, .flow = &l};
	char line[RECORD_MAX];

	CHECK(fold_add(&fold, &r));
	l.up = 3;
	CHECK(fold_add(&fold, &r) && fold.n == 1);
	l.down = 4;
	CHECK(fold_add(&fold, &r) && fold.n == 1 && l.up == 3 && l.down == 4);
	l.status = 403;
	CHECK(fold_add(&fold, &r) && fold.n == 2);
	memset(name, 'x', sizeof(name) - 1);
	r.names[0] = name;
	r.n_names = 1;
	CHECK(!fold_add(&fold, &r) && fold.n == 2);
	while (fold.n)
		CHECK(fold_take(&fold, line) > 0);
}

static void room_ends(void)
{
	char line[RECORD_MAX];
	struct record r;

	for (uint16_t i = 1; i <= FOLD_ENTRIES; i++) {
		r = refusal(i, 1, 1);
		CHECK(fold_add(&fold, &r));
	}
	r = refusal(FOLD_ENTRIES + 1, 1, 1);
	CHECK(!fold_add(&fold, &r));
	r = refusal(FOLD_ENTRIES, 2, 2);
	CHECK(fold_add(&fold, &r));
	while (fold.n)
		CHECK(fold_take(&fold, line) > 0);
}

static struct outlog out;

/* Reads all there is, slowly: a byte's time per kilobyte. */
static void *read_all(void *end)
{
	static char got[1 << 20];
	size_t *n = end, room = sizeof(got);
	int fd = (int)*n;
	ssize_t k;

	*n = 0;
	while ((k = read(fd, got, room < 1024 ? room : 1024)) > 0)
		*n += (size_t)k;
	return NULL;
}

/* Of a full queue nothing is lost while somebody reads. */
static void full_waits(void)
{
	char line[1000];
	size_t end, sent = 0;
	pthread_t reader;
	int ends[2];

	memset(line, 'x', sizeof(line));
	CHECK(pipe(ends) == 0 && fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0);
	out = (struct outlog){.fd = ends[1]};
	end = (size_t)ends[0];
	CHECK(pthread_create(&reader, NULL, read_all, &end) == 0);
	for (int i = 0; i < 900; i++, sent += sizeof(line))
		outlog_line(&out, line, sizeof(line));
	CHECK(out.n_lost == 0 && !out.stuck);
	outlog_drain(&out, 10000);
	close(ends[1]);
	pthread_join(reader, NULL);
	CHECK(end == sent);
	close(ends[0]);
}

/* A page now and then is no reason to wait again; half of the queue is. */
static void read_slowly(int from)
{
	static char page[4096];
	const uint64_t lost = out.n_lost;
	bool half = false;

	for (int i = 0; i < 80 && !half; i++) {
		CHECK(out.stuck && out.n_lost == lost);
		CHECK(read(from, page, sizeof(page)) == (ssize_t)sizeof(page));
		outlog_write(&out);
		half = out.n < OUTLOG_BYTES / 2;
	}
	CHECK(half && !out.stuck);
}

/* Nobody reads: one wait, and then what is lost is counted. */
static void stuck_counts(void)
{
	static char line[OUTLOG_BYTES / 4];
	int ends[2];

	CHECK(pipe(ends) == 0 && fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0);
	out = (struct outlog){.fd = ends[1]};
	for (int i = 0; i < 8; i++) {
		CHECK(outlog_has_room(&out) == (i < 2));
		outlog_line(&out, line, sizeof(line));
	}
	CHECK(out.stuck && out.n_lost >= 3);
	read_slowly(ends[0]);
	close(ends[0]);
	close(ends[1]);
}

/* What has no line is lost, and nobody waits for room for it. */
static void no_line(void)
{
	char got[200] = "";
	int ends[2];

	CHECK(pipe(ends) == 0);
	out = (struct outlog){.fd = ends[1]};
	outlog_line(&out, "", 0);
	CHECK(out.n == 0 && out.n_lost == 1 && !out.stuck);
	CHECK(outlog_pending(&out) && !outlog_has_room(&out) &&
	      outlog_wait_ms(&out, 0) == 0);
	outlog_line(&out, "a\n", 2);
	CHECK(out.n_lost == 0);
	outlog_finish(&out);
	CHECK(!outlog_pending(&out) && read(ends[0], got, sizeof(got) - 1) > 0);
	CHECK(strcmp(got, "{\"event\":\"lost\",\"count\":1}\na\n") == 0);
	close(ends[0]);
	close(ends[1]);
}

static bool unready; /* nothing is, however long it is waited for */
static unsigned n_waits;

/* It takes the C library's place in all of this program. */
int poll(struct pollfd *p, nfds_t n, int ms)
{
	const struct timespec wait = {ms / 1000, ms % 1000 * 1000000L};

	n_waits++;
	return unready ? 0
		       : (int)syscall(SYS_ppoll, p, n, ms < 0 ? NULL : &wait,
				      NULL, 0);
}

/* A reader who took nothing meanwhile is waited for no more. */
static void unread_end(void)
{
	out = (struct outlog){.fd = -1};
	outlog_line(&out, "a\n", 2);
	unready = true;
	n_waits = 0;
	outlog_finish(&out);
	unready = false;
	CHECK(n_waits == 1 && out.n == 2 && outlog_pending(&out));
}

/* What is not urgent waits for its time, and no longer. */
static void later(void)
{
	out = (struct outlog){.fd = -1};
	outlog_line_later(&out, "a\n", 2);
	CHECK(outlog_wait_ms(&out, out.due_ms - 7) == 7 &&
	      outlog_wait_ms(&out, out.due_ms) == 0 &&
	      outlog_wait_ms(&out, out.due_ms + 7) == 0);
}

/* A pipe that takes nothing now is none that is closed; one that nobody reads
 * any more is, and no line goes there. */
static void ends_of_the_reader(void)
{
	static char page[4096];
	int ends[2];

	CHECK(pipe(ends) == 0 && fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0);
	while (write(ends[1], page, sizeof(page)) > 0)
		;
	out = (struct outlog){.fd = ends[1]};
	outlog_line(&out, "a\n", 2);
	outlog_write(&out);
	CHECK(out.n == 2 && out.head == 0 && !out.closed);
	/* whose time is over waits no more */
	outlog_drain(&out, 0);
	outlog_drain(&out, -1);
	CHECK(out.n == 2 && !out.closed);
	close(ends[0]);
	outlog_write(&out);
	CHECK(out.closed && !outlog_pending(&out) &&
	      outlog_wait_ms(&out, 0) == -1);
	outlog_line(&out, "b\n", 2);
	CHECK(out.n == 2 && out.n_lost == 0);
	outlog_lost(&out, 1);
	CHECK(!outlog_pending(&out));
	close(ends[1]);
}

/* The ring's end is within a line; what is read is what was put. */
static void round_the_ring(void)
{
	static char line[3000], got[PIPE_BUF];
	size_t sent = 0, taken = 0;
	int ends[2];

	CHECK(pipe(ends) == 0);
	out = (struct outlog){.fd = ends[1]};
	for (unsigned i = 0; i < 200; i++) {
		for (size_t k = 0; k < sizeof(line); k++)
			line[k] = (char)('a' + (sent + k) % 23);
		outlog_line(&out, line, sizeof(line));
		sent += sizeof(line);
		while (outlog_pending(&out)) {
			ssize_t n;

			outlog_write(&out);
			n = read(ends[0], got, sizeof(got));
			CHECK(n > 0);
			for (ssize_t k = 0; k < n; k++)
				if (got[k] != (char)('a' + taken++ % 23))
					CHECK(false);
		}
	}
	CHECK(taken == sent && out.n_lost == 0);
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	alike_are_one();
	of_flows();
	room_ends();
	full_waits();
	stuck_counts();
	CHECK(signal(SIGPIPE, SIG_IGN) != SIG_ERR);
	no_line();
	unread_end();
	later();
	ends_of_the_reader();
	round_the_ring();
	return check_status();
}
