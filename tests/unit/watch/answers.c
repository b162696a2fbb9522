/* Whose an answer of the resolver's is: of a question, by its message's number
 * or by the connection that it went through. */
#include "runtime/watch/answers.h"

#include "tests/check.h"

#include <errno.h>
#include <string.h>

static struct answers *a;
static struct record r;
static struct err err;

static void asks(uint32_t pid, struct asked asked)
{
	struct watch_head head = {.pid = pid};

	r.head = &head;
	r.asked = asked;
	answers_asked(a, &r);
}

static void answer(uint16_t port, uint16_t id, bool tcp)
{
	char line[256];

	snprintf(line, sizeof(line),
		 "{\"time_ns\":1,\"port\":%u,\"id\":%u,\"tcp\":%s,"
		 "\"name\":\"a.test\",\"records\":[]}",
		 port, id, tcp ? "true" : "false");
	CHECK(answers_take(a, str_of(line), 0, &err) == 0);
}

/* By whom, at once or, nobody, when it has been waited for; -1: not yet. */
static int by_whom(int64_t now_ms)
{
	return answers_next(a, now_ms, false, &r) ? (int)r.head->pid : -1;
}

static int of_answer(uint16_t port, uint16_t id, bool tcp)
{
	answer(port, id, tcp);
	return by_whom(0);
}

/* Each question has its answer; of two alike the one that waits longest. */
static void test_questions(void)
{
	asks(2, (struct asked){ASKED_UDP, false, 4000, 7});
	asks(3, (struct asked){ASKED_UDP, false, 4000, 8});
	asks(4, (struct asked){ASKED_UDP, false, 4000, 8});
	CHECK(of_answer(4000, 8, false) == 3);
	CHECK(of_answer(4000, 7, false) == 2);
	CHECK(of_answer(4000, 8, false) == 4);
	CHECK(of_answer(4000, 8, false) == -1);
	CHECK(by_whom(ANSWERS_MS - 1) == -1);
	CHECK(by_whom(ANSWERS_MS) == 0); /* nobody's */
	/* seen being sent before it had a port */
	asks(5, (struct asked){ASKED_UDP, false, 0, 9});
	CHECK(of_answer(4001, 9, false) == 5);
}

/* All that comes to its port, until another has the port. */
static void test_connections(void)
{
	asks(2, (struct asked){ASKED_UDP, true, 5000, 0});
	CHECK(of_answer(5000, 1, false) == 2 && of_answer(5000, 2, false) == 2);
	asks(3, (struct asked){ASKED_UDP, true, 5000, 0});
	CHECK(of_answer(5000, 3, false) == 3);
	asks(4, (struct asked){ASKED_TCP, true, 5000, 0});
	CHECK(of_answer(5000, 3, false) == 3 && of_answer(5000, 3, true) == 4);
	CHECK(of_answer(5001, 3, true) == -1);
	CHECK(by_whom(ANSWERS_MS) == 0);
	asks(6, (struct asked){ASKED_NOT, true, 5001, 0});
	CHECK(of_answer(5001, 3, true) == -1);
	CHECK(answers_next(a, 0, true, &r) && r.head->pid == 0);
}

static void test_lines(void)
{
	CHECK(answers_take(a, STR("{}"), 0, &err) == -EPROTO);
	CHECK(answers_take(a, STR("{\"missing\":3}"), 0, &err) == 0);
	CHECK(answers_lost(a) == 3);
	/* the room is bounded: what has none is counted */
	for (uint16_t i = 0; i < 100; i++)
		answer(6000, i, false);
	CHECK(answers_lost(a) > 3);
}

int main(void)
{
	a = answers_new(0);
	CHECK(a != NULL);
	test_questions();
	test_connections();
	test_lines();
	answers_free(a);
	return check_status();
}
