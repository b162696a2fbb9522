/* Refusals under pressure, and the queue that leaves room for what is not. */
#include "runtime/gate/record/fold.h"
#include "runtime/gate/record/outlog.h"
#include "tests/check.h"

#include <cjson/cJSON.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <string.h>
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
	bool half = false;

	for (int i = 0; i < 80 && !half; i++) {
		CHECK(out.stuck);
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

int main(void)
{
	alike_are_one();
	room_ends();
	full_waits();
	stuck_counts();
	return check_status();
}
