/* ask.h: connections, questions, files, and what a person may permit. */
#include "tests/unit/algebra/asked.h"

/* --- connections ---------------------------------------------------------- */

static const struct asked_row connections[] = {
	{"allow a.test\nallow *.test:1\n", "a.test:443",
	 "granted by a.test tcp/1-65535"},
	/* J-6: the grant that comes nearest. */
	{"allow *.test:1\nallow a.test udp/9\n", "udp a.test:443",
	 "udp by *.test tcp/1"},
	{"allow *.test:1\nallow a.test udp/9\n", "a.test:443",
	 "port by *.test tcp/1"},
	{"allow *.test:1\nallow a.test http\n", "a.test:443",
	 "not-http by a.test tcp/1-65535 http [* *]"},
	{"allow *.test http\nallow a.test\n", "a.test:443",
	 "granted by a.test tcp/1-65535"},
	{"allow a.test:1\nallow a.test\n", "tcp 10.0.0.1:443 a.test",
	 "private-address by a.test tcp/1-65535"},
	{"allow a.test http\n", "tcp 10.0.0.1:443 a.test",
	 "private-address by a.test tcp/1-65535 http [* *]"},
	{"allow a.test http private\n", "tcp 10.0.0.1:443 a.test",
	 "not-http by a.test tcp/1-65535 http [* *] private"},
	{"allow a.test private\n", "tcp 10.0.0.1:443 a.test",
	 "granted by a.test tcp/1-65535 private"},
	{"allow a.test public\n", "tcp 10.0.0.1:443 a.test",
	 "private-address by a.test tcp/1-65535"},
	{"allow a.test private\n", "tcp 10.0.0.1:443 b.test", "no-grant"},
	{"allow a.test private\n", "tcp 127.0.0.1:443 a.test",
	 "floor by 127.0.0.0/8 tcp/1-65535,udp/1-65535"},
	{"allow a.test private\nallow 127.0.0.1 tcp/80\n",
	 "tcp 127.0.0.1:443 a.test",
	 "private-address by a.test tcp/1-65535 private"},
	{"allow 10.0.0.0/8 tcp/22\nallow a.test\n", "tcp 10.0.0.1:22 a.test",
	 "granted by 10.0.0.0/8 tcp/22"},
	/* S-3 */
	{"allow a.test:443\nallow *.test tcp/80 private\n",
	 "tcp 10.0.0.1:443 a.test", "private-address by a.test tcp/443"},
	{"allow a.test:443\nallow *.test tcp/80 private\n",
	 "tcp 10.0.0.1:80 a.test", "granted by *.test tcp/80 private"},
	/* '*' */
	{"allow *\n", "203.0.113.1:443", "granted by * tcp/1-65535"},
	{"allow *\n", "10.0.0.1:443", "no-grant"},
	{"allow *\n", "tcp 10.0.0.1:443 a.test",
	 "private-address by * tcp/1-65535"},
	{"allow * private\n", "tcp 10.0.0.1:443 a.test",
	 "granted by * tcp/1-65535 private"},
	{"allow * private\n", "10.0.0.1:443", "no-grant"},
	{"allow *\nallow 10.0.0.0/8 tcp/22\n", "10.0.0.1:443",
	 "port by 10.0.0.0/8 tcp/22"},
	{"allow 10.0.0.0/8 tcp/22\nallow a.test:1\n", "10.0.0.1:443",
	 "port by 10.0.0.0/8 tcp/22"},
	{"allow *\n", "a.test:443", "granted by * tcp/1-65535"},
	{"allow * http=GET\n", "203.0.113.1:443",
	 "not-http by * tcp/1-65535 http [GET *]"},
	/* denials */
	{"allow *\ndeny *\n", "a.test:443", "granted by * tcp/1-65535"},
	{"allow *\ndeny * tcp/22\n", "a.test:22", "denied by * tcp/22"},
	{"allow *\ndeny * tcp/22\n", "a.test:443", "granted by * tcp/1-65535"},
	{"allow *\ndeny * tcp/1-65535 http=GET\n", "203.0.113.1:443",
	 "granted by * tcp/1-65535"},
	{"allow *\ndeny a.test\n", "a.test:443",
	 "denied by a.test tcp/1-65535,udp/1-65535"},
	{"allow *\ndeny a.test\n", "tcp 203.0.113.1:443 a.test",
	 "denied by a.test tcp/1-65535,udp/1-65535"},
	{"allow *\ndeny a.test\n", "203.0.113.1:443",
	 "granted by * tcp/1-65535"},
	{"allow *\ndeny *.test\n", "a.test:443",
	 "denied by *.test tcp/1-65535,udp/1-65535"},
	{"allow *\ndeny *.test\n", "test:443", "granted by * tcp/1-65535"},
	{"allow *\ndeny a.test tcp/1-65535 http=GET\n", "a.test:443",
	 "granted by * tcp/1-65535"},
	{"allow *\ndeny https://a.test/\n", "a.test:443",
	 "granted by * tcp/1-65535"},
	{"allow *\ndeny 203.0.113.0/24\n", "203.0.113.1:443",
	 "denied by 203.0.113.0/24 tcp/1-65535,udp/1-65535"},
	{"allow *\ndeny 203.0.113.0/24\n", "tcp 203.0.113.1:443 a.test",
	 "denied by 203.0.113.0/24 tcp/1-65535,udp/1-65535"},
	{"allow *\ndeny 203.0.113.0/24\n", "a.test:443",
	 "granted by * tcp/1-65535"},
	{"allow *\ndeny 203.0.113.0/24 tcp/1-65535 http=GET\n",
	 "203.0.113.1:443", "granted by * tcp/1-65535"},
	{"allow *\ndeny 203.0.113.0/24 udp/53\n", "203.0.113.1:53",
	 "granted by * tcp/1-65535"},
	/* URLs open no connection. */
	{"allow https://a.test/\n", "a.test:443",
	 "not-http by https://a.test/ tcp/443"},
	{"allow https://*.test/\n", "a.test:443",
	 "not-http by https://*.test/ tcp/443"},
	{"allow https://*.test/\n", "test:443", "no-grant"},
	{"allow https://203.0.113.1/\n", "203.0.113.1:443",
	 "not-http by https://203.0.113.1/ tcp/443"},
	{"allow https://203.0.113.1/\n", "203.0.113.2:443", "no-grant"},
	{"allow https://203.0.113.1/\n", "a.test:443", "no-grant"},
	/* the floor */
	{"allow 127.0.0.0/8\n", "127.0.0.1:1",
	 "floor by 127.0.0.0/8 tcp/1-65535,udp/1-65535"},
	{"allow 127.0.0.1\n", "127.0.0.1:1",
	 "granted by 127.0.0.1/32 tcp/1-65535"},
	{"allow 127.0.0.1 tcp/2\n", "127.0.0.1:1",
	 "port by 127.0.0.1/32 tcp/2"},
	{"allow 127.0.0.1 http\n", "127.0.0.1:1",
	 "floor by 127.0.0.0/8 tcp/1-65535,udp/1-65535"},
	{"deny 127.0.0.0/8\n", "127.0.0.1:1",
	 "denied by 127.0.0.0/8 tcp/1-65535,udp/1-65535"},
	{"deny 127.0.0.1\n", "127.0.0.1:1",
	 "floor by 127.0.0.0/8 tcp/1-65535,udp/1-65535"},
	{"allow 127.0.0.1\ndeny 127.0.0.1\n", "127.0.0.1:1",
	 "denied by 127.0.0.1/32 tcp/1-65535,udp/1-65535"},
};

/* N-12, N-13, N-20, N-21 */
static const struct asked_row quic[] = {
	{"deny a.test tcp/443\n", "quic a.test:443", "no-grant"},
	{"allow a.test tcp/443\ndeny a.test tcp/443 http=GET\n",
	 "quic a.test:443", "udp by a.test tcp/443"},
	{"allow a.test udp/443\n", "quic a.test:443",
	 "granted by a.test udp/443"},
	{"allow a.test udp/443\ndeny a.test tcp/443\n", "quic a.test:443",
	 "quic by a.test tcp/443"},
	{"allow a.test udp/443\ndeny a.test tcp/80\n", "quic a.test:443",
	 "granted by a.test udp/443"},
	{"allow a.test udp/443\ndeny *.test tcp/443 http=GET\n",
	 "quic a.test:443", "quic by *.test tcp/443 http [GET *]"},
	{"allow a.test udp/443\ndeny *.test tcp/443 http=GET\n",
	 "udp a.test:443", "granted by a.test udp/443"},
	{"allow a.test udp/443\ndeny http://a.test:443/\n", "quic a.test:443",
	 "granted by a.test udp/443"},
	{"allow a.test udp/443\ndeny https://a.test/\n", "quic a.test:443",
	 "quic by https://a.test/ tcp/443"},
	{"allow a.test udp/443\ndeny b.test tcp/443\n", "quic a.test:443",
	 "granted by a.test udp/443"},
	{"allow a.test udp/443\ndeny * tcp/443 http=GET\n", "quic a.test:443",
	 "quic by * tcp/443 http [GET *]"},
	{"allow a.test udp/443\ndeny 203.0.113.0/24 tcp/443 http=GET\n",
	 "quic 203.0.113.1:443 a.test",
	 "quic by 203.0.113.0/24 tcp/443 http [GET *]"},
	{"allow a.test udp/443\ndeny 203.0.113.0/24 tcp/443 http=GET\n",
	 "quic 203.0.114.1:443 a.test", "granted by a.test udp/443"},
	{"allow a.test udp/443\ndeny 203.0.113.0/24 tcp/443 http=GET\n",
	 "quic a.test:443", "granted by a.test udp/443"},
	{"allow a.test udp/443\ndeny 203.0.113.0/24 tcp/443 http=GET\n",
	 "quic 203.0.113.1:443 b.test", "no-grant"},
	{"allow a.test udp/443\ndeny 203.0.113.0/24 tcp/80 http=GET\n"
	 "deny b.test tcp/443\n",
	 "quic 203.0.113.1:443 a.test", "quic by b.test tcp/443"},
	{"allow 203.0.113.0/24 udp/443\ndeny b.test tcp/443\n",
	 "quic 203.0.113.1:443", "quic by b.test tcp/443"},
	{"allow 203.0.113.0/24 udp/443\ndeny b.test\n", "quic 203.0.113.1:443",
	 "quic by b.test tcp/1-65535,udp/1-65535"},
	{"allow 203.0.113.0/24 udp/443\ndeny b.test tcp/80\n",
	 "quic 203.0.113.1:443", "granted by 203.0.113.0/24 udp/443"},
	{"allow 203.0.113.0/24 tcp/443\ndeny b.test tcp/443\n",
	 "quic 203.0.113.1:443", "udp by 203.0.113.0/24 tcp/443"},
	{"allow * udp/443\ndeny b.test tcp/443\n", "quic 203.0.113.1:443",
	 "quic by b.test tcp/443"},
	{"allow * udp/443\ndeny b.test tcp/443\n", "quic a.test:443",
	 "granted by * udp/443"},
	{"allow * udp/443 private\ndeny b.test tcp/443\n",
	 "quic 10.0.0.1:443 a.test", "granted by * udp/443 private"},
	{"allow * udp/443\nallow 10.0.0.0/8 tcp/1\ndeny b.test tcp/443\n",
	 "quic 10.0.0.1:443 a.test", "private-address by * udp/443"},
};

/* --- questions ------------------------------------------------------------ */

static const struct asked_row questions[] = {
	{"allow a.test\n", "resolve a.test", "granted by a.test tcp/1-65535"},
	{"allow a.test\n", "resolve b.test", "no-grant"},
	{"allow a.test\n", "resolve a.test SVCB",
	 "granted by a.test tcp/1-65535"},
	{"allow *\nallow **.test\nallow a.test\n", "resolve a.test",
	 "granted by a.test tcp/1-65535"},
	{"allow *\nallow **.test\n", "resolve a.test",
	 "granted by **.test tcp/1-65535"},
	{"allow *\n", "resolve a.test", "granted by * tcp/1-65535"},
	{"allow **.test\nallow https://a.test/\n", "resolve a.test",
	 "granted by https://a.test/ tcp/443"},
	{"allow https://*.test/\n", "resolve a.test",
	 "granted by https://*.test/ tcp/443"},
	{"allow https://*.test/\n", "resolve test", "no-grant"},
	{"allow 0.0.0.0/0\n", "resolve a.test", "no-grant"},
	{"allow https://203.0.113.1/\n", "resolve a.test", "no-grant"},
	{"allow *\ndeny a.test\n", "resolve a.test",
	 "denied by a.test tcp/1-65535,udp/1-65535"},
	{"allow *\ndeny a.test tcp/443\n", "resolve a.test",
	 "granted by * tcp/1-65535"},
	{"allow *\ndeny a.test tcp/1-65535\n", "resolve a.test",
	 "granted by * tcp/1-65535"},
	{"allow *\ndeny a.test http=GET\n", "resolve a.test",
	 "granted by * tcp/1-65535"},
	{"allow *\ndeny https://a.test/\n", "resolve a.test",
	 "granted by * tcp/1-65535"},
	{"allow a.test\ndeny *\n", "resolve a.test",
	 "granted by a.test tcp/1-65535"},
	{"allow a.test\ndeny *\n", "resolve b.test", "no-grant"},
	/* The machine has names of its own. */
	{"allow 192.0.0.5 tcp/80\n", "resolve host", "granted by host tcp/80"},
	{"allow 192.0.0.5 tcp/80\n", "resolve host.docker.internal",
	 "granted by host tcp/80"},
	{"allow 192.0.0.5 tcp/80\n", "resolve a.test", "no-grant"},
	{"allow 192.0.0.4/31 tcp/80\n", "resolve host", "no-grant"},
	{"allow http://192.0.0.5/\n", "resolve host",
	 "granted by http://host/ tcp/80"},
	{"allow http://192.0.0.5/\n", "resolve a.test", "no-grant"},
	{"allow http://192.0.0.4/\n", "resolve host", "no-grant"},
	{"allow 192.0.0.5 tcp/80\ndeny 192.0.0.5\n", "resolve host",
	 "denied by host tcp/1-65535,udp/1-65535"},
	{"ask *\n", "resolve host", "no-grant"},
	{"ask *\n", "resolve a.test",
	 "ask by * tcp/1-65535 for=session wait=1m"},
};

/* --- what a person may permit --------------------------------------------- */

static const struct asked_row askable[] = {
	{"ask a.test\n", "a.test:443",
	 "ask by a.test tcp/1-65535 for=session wait=1m"},
	{"ask a.test\n", "b.test:443", "no-grant"},
	{"ask a.test\n", "udp a.test:443", "no-grant"},
	{"ask a.test\n", "tcp 10.0.0.1:443 a.test", "no-grant"},
	{"ask a.test private\n", "tcp 10.0.0.1:443 a.test",
	 "ask by a.test tcp/1-65535 private for=session wait=1m"},
	{"ask a.test\nallow a.test\n", "a.test:443",
	 "granted by a.test tcp/1-65535"},
	{"ask a.test\ndeny a.test tcp/443\n", "a.test:443",
	 "denied by a.test tcp/443"},
	{"ask 203.0.113.0/24\n", "203.0.113.1:443",
	 "ask by 203.0.113.0/24 tcp/1-65535 for=session wait=1m"},
	{"ask 203.0.113.0/24\n", "203.0.114.1:443", "no-grant"},
	{"ask 203.0.113.0/24\n", "a.test:443", "no-grant"},
	{"ask 203.0.113.0/24\n", "GET http://203.0.113.1/",
	 "ask by 203.0.113.0/24 tcp/1-65535 for=session wait=1m"},
	{"ask 203.0.113.0/24\n", "GET http://203.0.114.1/", "no-grant"},
	{"ask 203.0.113.0/24\n", "GET http://a.test/", "no-grant"},
	{"ask 203.0.113.0/24\n", "GET http://a.test/ at 203.0.113.1",
	 "ask by 203.0.113.0/24 tcp/1-65535 for=session wait=1m"},
	{"ask *\n", "203.0.113.1:443",
	 "ask by * tcp/1-65535 for=session wait=1m"},
	{"ask *\n", "host:80", "floor by 192.0.0.0/29 tcp/1-65535,udp/1-65535"},
	{"ask *\n", "GET http://host/",
	 "floor by 192.0.0.0/29 tcp/1-65535,udp/1-65535"},
	{"ask a.test http=GET\n", "GET http://a.test/",
	 "ask by a.test tcp/1-65535 http [GET *] for=session wait=1m"},
	{"ask a.test http=GET\n", "PUT http://a.test/", "no-grant"},
	{"ask a.test http=GET\n", "a.test:80", "no-grant"},
	{"allow a.test http=GET\nask a.test http=PUT\n", "PUT http://a.test/",
	 "ask by a.test tcp/1-65535 http [PUT *] for=session wait=1m"},
	{"ask 127.0.0.1\n", "127.0.0.1:1",
	 "ask by 127.0.0.1/32 tcp/1-65535 for=session wait=1m"},
	{"ask a.test\n", "read a.test", "granted"},
	{"ask a.test\n", "docker-arg --init", "no-grant"},
	{"ask *\n", "tcp 203.0.113.1:80 host", "no-grant"},
	{"allow a.test http=GET+/x\nask a.test http=PUT\n",
	 "PUT http://a.test/a/../b", "path-not-canonical"},
	{"ask *\nignore x\n", "read x", "ignored by x"},
	/* the widest answer, then the longest wait. */
	{"ask a.test for=once\nask *.test for=always\nask **.test\n",
	 "a.test:443", "ask by *.test tcp/1-65535 for=always wait=1m"},
	{"ask a.test for=always\nask *.test for=once\n", "a.test:443",
	 "ask by a.test tcp/1-65535 for=always wait=1m"},
	{"ask a.test\nask *.test\n", "a.test:443",
	 "ask by *.test tcp/1-65535 for=session wait=1m"},
	{"ask a.test:1 for=always\nask *.test for=once\n", "a.test:443",
	 "ask by *.test tcp/1-65535 for=once wait=1m"},
};

/* --- files and words ------------------------------------------------------ */

static const struct asked_row files[] = {
	{"ignore *.pem\n", "read a.pem", "ignored by *.pem"},
	{"ignore *.pem\n", "write a.pem", "ignored by *.pem"},
	{"ignore *.pem\n", "read a.txt", "granted"},
	{"readonly *.pem\n", "read a.pem", "granted"},
	{"readonly *.pem\n", "write a.pem", "readonly by *.pem"},
	{"ignore a/\nreadonly *.pem\n", "write a/b.pem", "ignored by a/"},
	{"ignore a/\n", "read a", "granted"},
	{"ignore a/\n", "read a/", "ignored by a/"},
	{"ignore a/\n", "read a/b/c", "ignored by a/"},
	{"ignore a/*\nignore !a/b\n", "read a/b", "granted"},
	{"ignore a/*\nignore !a/b\n", "read a/c", "ignored by a/*"},
	{"ignore *.pem\n", "read ~/a.pem", "granted"},
	{"", "docker-arg --init", "no-grant"},
};

/* of those with as wide an answer that which waits longest. */
static void check_wait(void)
{
	static const unsigned waits[][2] = {{60, 61}, {61, 60}, {60, 60}};
	struct ir_request r = {0};
	struct test_policy t;

	CHECK(test_policy_make(&t, "ask *.test\nask a.test\n"));
	asked_request(&t, "a.test:443", &r);
	for (size_t i = 0; i < ARRAY_LEN(waits); i++) {
		const struct ir_grant *g;

		for (int k = 0; k < 2; k++)
			t.policy.ask.v[k].wait_s.v = waits[i][k];
		g = decide_asked(t.a, &t.policy, NULL, &r).grant;
		CHECK(g == &t.policy.ask.v[waits[i][1] > waits[i][0]]);
	}
	test_policy_done(&t);
}

/* An option of docker's that it gets, or not. */
static void check_arg(void)
{
	struct ir_request r = {.kind = IR_REQ_ARG, .arg = STR("--init")};
	struct test_policy t;
	struct decision d;

	CHECK(test_policy_make(&t, ""));
	d = decide_asked(t.a, &t.policy, NULL, &r);
	CHECK(d.verdict == VERDICT_DENY && d.reason == REASON_NO_GRANT);
	*vec_push(t.a, &t.policy.docker_args) =
		(struct arg){.option = STR("init")};
	d = decide_asked(t.a, &t.policy, NULL, &r);
	CHECK(d.verdict == VERDICT_ALLOW && d.reason == REASON_GRANTED);
	test_policy_done(&t);
}

/* H-5: of the machine's names nobody is asked, whatever the request. */
static void check_machine(void)
{
	struct ir_request requests[] = {
		{.kind = IR_REQ_CONNECT, .name = STR("host"), .port = 80},
		{.kind = IR_REQ_RESOLVE, .name = STR("host"), .type = STR("A")},
		{.kind = IR_REQ_HTTP,
		 .method = STR("GET"),
		 .url = {.who = IR_DEST_HOST,
			 .name = STR("host"),
			 .port = 80,
			 .path = STR("/")}},
	};
	struct test_policy t;

	CHECK(test_policy_make(&t, "ask *\n"));
	for (size_t i = 0; i < ARRAY_LEN(requests); i++) {
		struct ir_request *r = &requests[i];

		CHECK(decide_asked(t.a, &t.policy, NULL, r).verdict ==
		      VERDICT_DENY);
		r->name = r->url.name = STR("a.test");
		CHECK(decide_asked(t.a, &t.policy, NULL, r).verdict ==
		      VERDICT_ASK);
	}
	test_policy_done(&t);
}

/* The room that is made once is of its own policy, and a copy. */
static void check_room(void)
{
	struct test_policy t, other;
	struct decide_files *f;
	struct ir_grant *room;

	CHECK(test_policy_make(&t, "allow a.test\nallow b.test\nask c.test\n"));
	CHECK(test_policy_make(&other, "allow a.test\n"));
	f = decide_files_new(t.a, &t.policy);
	room = decide_files_room(f, &t.policy);
	CHECK(room && room != t.policy.allow.v);
	for (int k = 0; room && k < 2; k++)
		CHECK(str_eq(room[k].canon, t.policy.allow.v[k].canon));
	CHECK(!decide_files_room(f, &other.policy));
	CHECK(!decide_files_room(NULL, &t.policy));
	other.policy.allow.v = t.policy.allow.v;
	CHECK(!decide_files_room(f, &other.policy));
	CHECK(!decide_files_room(decide_files_new(other.a, &other.policy),
				 &other.policy));
	test_policy_done(&t);
	test_policy_done(&other);
}

int main(void)
{
	check_arg();
	check_machine();
	check_room();
	check_wait();
	ASKED_ROWS(connections);
	ASKED_ROWS(quic);
	ASKED_ROWS(questions);
	ASKED_ROWS(askable);
	ASKED_ROWS(files);
	return check_status();
}
