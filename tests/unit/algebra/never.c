/*
 * never.h, of connections, requests and raw arguments: what a policy permits of
 * a set.
 */
#include "compiler/algebra/compare/never.h"
#include "compiler/algebra/decide/ask.h"

#include "tests/unit/algebra/compared.h"

static const struct {
	const char *policy, *dest, *ports, *methods, *paths, *witness;
} sets[] = {
	{"allow *.github.com:443\n", "gist.github.com", "", "POST", "",
	 "POST https://gist.github.com/"},
	{"allow *.github.com:443\ndeny gist.github.com\n", "gist.github.com",
	 "", "POST", "", ""},
	{"allow *.github.com tcp/443 http=GET\n", "gist.github.com", "", "POST",
	 "", ""},
	{"allow *.github.com tcp/443 http=GET\n", "gist.github.com", "", "", "",
	 "GET https://gist.github.com/"},
	{"allow *\ndeny **.internal\n", "**.internal", "", "", "", ""},
	/* A pattern of one label less than the set. */
	{"allow *\ndeny *.internal\n", "**.internal", "", "", "",
	 "www.example.internal:443"},
	/* A network says nothing of a name that does not resolve. */
	{"allow 10.0.0.0/8\n", "**.internal", "", "", "", ""},
	{"allow 10.0.0.0/8\nallow a.internal udp/9\ndeny a.internal udp/9\n",
	 "**.internal", "", "", "", "resolve a.internal"},
	{"allow 203.0.113.0/24 tcp/22\nallow a.test:443\ndeny a.test tcp/443\n"
	 "deny * udp/53\n",
	 "a.test", "", "", "", "resolve a.test"},
	{"allow 10.0.0.0/8\n", "10.1.0.0/16", "", "", "", "tcp 10.1.0.1:443"},
	{"allow 10.0.0.0/8\ndeny 10.1.0.0/16\n", "10.1.0.0/16", "", "", "", ""},
	{"allow a.test private\n", "10.0.0.0/8", "", "", "",
	 "tcp 10.0.0.1:443 a.test"},
	{"allow a.test\n", "10.0.0.0/8", "", "", "", ""},
	{"allow 10.0.0.1/32\n", "*", "", "", "", ""},
	{"allow 10.0.0.1/32\n", NULL, "", "", "", "tcp 10.0.0.1:443"},
	{"allow https://a.test/x/\n", "https://a.test/x/y", "", "", "",
	 "GET https://a.test/x/y"},
	{"allow https://a.test/x/\n", "https://a.test/z", "", "", "", ""},
	{"allow http://a.test/x/\n", "https://a.test/x", "", "", "", ""},
	{"allow https://a.test/x/\n", "a.test", "", "DELETE", "/x/y",
	 "DELETE https://a.test/x/y"},
	{"", NULL, "", "", "", ""},
	{"allow a.test tcp/1-30\n", "a.test", "tcp/22", "", "", "a.test:22"},
	{"allow a.test tcp/1-30\n", "a.test", "tcp/31-40,udp/5", "", "", ""},
	{"allow a.test tcp/1-30,udp/1-5\n", "a.test", "udp/5", "", "",
	 "udp a.test:5"},
	{"allow a.test tcp/1-30\n", "a.test:30", "", "", "", "a.test:30"},
	{"allow a.test tcp/1-30\n", "a.test:31", "", "", "", ""},
	{"allow *.a.test udp/53\n", NULL, "udp/53", "", "",
	 "udp www.a.test:53"},
	{"allow *.a.test udp/53\n", NULL, "tcp/22", "", "", ""},
	{"ask a.test:443\n", NULL, "", "", "", "a.test:443"},
	{"ask a.test:443\ndeny a.test\n", "a.test", "", "", "", ""},
	{"ask a.test tcp/443 http=POST\n", "a.test", "", "POST", "",
	 "POST https://a.test/"},
	{"allow a.test:443\n", "203.0.113.0/24", "", "", "",
	 "tcp 203.0.113.1:443 a.test"},
	{"allow a.test:443\ndeny 203.0.113.0/24\n", "203.0.113.0/24", "", "",
	 "", ""},
	{"allow 203.0.113.8/32 tcp/9\n", "203.0.113.0/24", "", "", "",
	 "tcp 203.0.113.8:9"},
	{"allow 203.0.113.8/32 tcp/80 http=POST\n", "203.0.113.0/24", "", "GET",
	 "", ""},
	{"allow 203.0.113.8/32 tcp/80 http=POST\n", "203.0.113.0/24", "",
	 "POST", "", "POST http://203.0.113.8/"},
	{"allow 203.0.113.8/32 tcp/80 http=POST+/y\n", "203.0.113.0/24", "",
	 "POST", "/x", ""},
	{"allow a.test tcp/80 http=POST+/x\n", "203.0.113.0/24", "", "POST",
	 "/x", "POST http://a.test/x at 203.0.113.1"},
	{"allow 203.0.113.8/32 tcp/443 http=GET\n", "https://203.0.113.8/", "",
	 "", "", "GET https://example.com/ at 203.0.113.8 unresolved"},
	{"allow https://203.0.113.8/\n", "https://203.0.113.8/", "", "", "",
	 "GET https://example.com/ at 203.0.113.8 unresolved"},
	{"allow https://203.0.113.8/\n", "http://203.0.113.8/", "", "", "", ""},
	{"allow 203.0.113.0/24 tcp/80\n", "a.test", "", "GET", "", ""},
	{"allow 203.0.113.0/24 tcp/80\nallow a.test tcp/22\n", "a.test", "",
	 "GET", "", "GET https://a.test:22/"},
	{"allow 203.0.113.0/24 tcp/80\nallow a.test tcp/22\n", "a.test",
	 "tcp/80", "", "", "tcp 203.0.113.1:80 a.test"},
	{"allow 203.0.113.0/24 tcp/80\nallow a.test tcp/22\ndeny a.test tcp/80\n",
	 "a.test", "tcp/80", "", "", ""},
	{"allow a.test tcp/443 http=GET+/x/y\n", "https://a.test/x", "", "", "",
	 "GET https://a.test/x/y"},
	{"allow a.test tcp/443 http=GET+/x/y\n", "https://a.test/x", "", "PUT",
	 "", ""},
	{"allow a.test tcp/443 http=GET+/x/y\n", "https://a.test/x", "", "",
	 "y", "GET https://a.test/x/y"},
	{"allow a.test tcp/443 http=GET+/x/z\n", "https://a.test/x/", "", "",
	 "y+z", "GET https://a.test/x/z"},
	{"allow a.test tcp/443 http=GET+/x/y\n", "https://a.test/x", "", "",
	 "w", ""},
	{"allow a.test tcp/443 http=GET+/y\n", "https://a.test/", "", "", "y",
	 "GET https://a.test/y"},
	{"allow a.test tcp/443 http=GET+/y\n", "a.test", "", "", "y",
	 "GET https://a.test/y"},
	{"allow a.test tcp/443 http=GET+/x/y\n", "https://a.test:8443/x", "",
	 "", "", ""},
	{"allow a.test tcp/8443 http=GET+/x/y\n", "https://a.test:8443/x", "",
	 "", "", "GET https://a.test:8443/x/y"},
	{"allow https://a.test:8443/x\n", "http://a.test:8443/x", "", "", "",
	 ""},
	{"allow 203.0.113.0/24 tcp/9\n", "*", "", "", "", "tcp 203.0.113.1:9"},
	{"allow 203.0.113.0/24 tcp/9\n", "*", "tcp/8", "", "", ""},
	{"allow 10.0.0.0/8\n", "*", "", "", "", ""},
	{"allow 2001:db8::/32 udp/9\n", "*", "", "", "", "udp [2001:db8::1]:9"},
	{"allow *\n", "10.0.0.0/8", "", "", "", ""},
	{"allow * private\n", "10.0.0.0/8", "", "", "",
	 "tcp 10.0.0.1:443 example.com"},
	{"allow *\n", "169.254.169.254/32", "", "", "", ""},
	{"allow 169.254.169.254/32 tcp/80\n", "169.254.169.254/32", "", "", "",
	 "tcp 169.254.169.254:80"},
	{"allow 192.0.0.5/32 tcp/80\n", "192.0.0.5/32", "", "", "",
	 "tcp host:80"},
	{"allow 192.0.0.5/32 tcp/80\n", "192.0.0.5/32", "tcp/81", "", "", ""},
	{"allow *.a.test:443\n", "**.a.test", "", "CONNECT", "",
	 "CONNECT https://www.a.test/"},
	{"allow *.a.test:443 inspect\n", "**.a.test", "", "CONNECT", "", ""},
	{"allow a.test tcp/443 http=CONNECT\n", "a.test", "", "CONNECT", "",
	 ""},
	{"allow a.test:443\ndeny https://a.test/x\n", "a.test", "", "", "/x",
	 "GET http://a.test:443/x"},
	{"allow a.test:443\ndeny a.test http=*+/x\n", "a.test", "", "", "/x",
	 ""},
	{"allow a.test:443\ndeny a.test http=*+/x\ndeny *.test tcp/443 http=GET\n",
	 "a.test", "", "", "/x", ""},
	{"allow a.test:443\ndeny a.test tcp/443\n", "a.test", "", "", "",
	 "resolve a.test"},
	{"allow a.test:443\ndeny a.test tcp/443\n", "a.test", "tcp/443", "", "",
	 ""},
	{"allow a.test udp/443\ndeny https://a.test/x\n", "a.test", "udp/443",
	 "", "", "udp a.test:443"},
	/* No request goes over UDP, though a rule of requests has the port. */
	{"deny * tcp/1-500\nallow a.test tcp/443,udp/443\n"
	 "allow https://*.test/x\n",
	 "0.0.0.0/0", "", "POST", "/x", ""},
	/* Where it is only stated, the name is none of the set: '*' would let
	   pass unread what is read where the name led to the address. */
	{"allow * tcp/443\nallow a.test tcp/443 inspect\n", "a.test", "",
	 "CONNECT", "", ""},
	/* A question is decided by rules of all ports. */
	{"allow a.test tcp/22\nask a.test:443\ndeny a.test tcp/1-1000\n",
	 "a.test", "", "", "", "resolve a.test"},
};

static struct ir_never set_of(struct arena *a, size_t i)
{
	struct ir_never set = {.kind = IR_NEVER_NET, .has_dest = sets[i].dest};
	struct str methods = str_of(sets[i].methods), word;
	struct str paths = str_of(sets[i].paths);

	if (set.has_dest)
		test_dest(str_of(sets[i].dest), &set.dest);
	CHECK(test_ports(a, str_of(sets[i].ports), &set.ports));
	while (str_field(&methods, '+', &word))
		*vec_push(a, &set.methods) = (struct ir_text){.s = word};
	while (str_field(&paths, '+', &word))
		*vec_push(a, &set.paths) = (struct ir_text){.s = word};
	return set;
}

static void check_never(void)
{
	for (size_t i = 0; i < ARRAY_LEN(sets); i++) {
		struct ir_request witness = {.text = STR("")};
		struct ir_never set;
		struct test_policy t;
		struct decision d;
		bool found;

		CHECK(test_policy_make(&t, sets[i].policy));
		set = set_of(t.a, i);
		found = never_find(t.a, &t.policy, &set, &witness, &d);
		CHECK(found == (sets[i].witness[0] != '\0'));
		CHECK(!found ||
		      (d.verdict != VERDICT_DENY &&
		       decide_asked(t.a, &t.policy, NULL, &witness).verdict ==
			       d.verdict));
		CHECK_MSG(str_is(witness.text, sets[i].witness),
			  "%zu: '%.*s', not '%s'", i, STR_ARG(witness.text),
			  sets[i].witness);
		test_policy_done(&t);
	}
}

/* --- raw arguments -------------------------------------------------------- */

static const struct {
	const char *policy, *arg, *witness;
} args[] = {
	{"", "--privileged", ""},
	{"args: [--cap-add=KILL]", "--privileged", ""},
	{"args: [--privileged]", "--privileged", "docker-arg --privileged"},
	{"args: [--privileged=false]", "--privileged", ""},
	{"args: [--cap-add=KILL]", "--cap-add=KILL",
	 "docker-arg --cap-add=KILL"},
	{"args: [--cap-add=KILL]", "--cap-add=CHOWN", ""},
	/* An option alone is any value of it. */
	{"args: [--cap-add=KILL]", "--cap-add", "docker-arg --cap-add=KILL"},
};

static void check_args(void)
{
	for (size_t i = 0; i < ARRAY_LEN(args); i++) {
		const struct ir_never set = {.kind = IR_NEVER_ARG,
					     .arg = str_of(args[i].arg)};
		struct ir_request witness = {.text = STR("")};
		struct test_policy t;
		struct decision d;
		bool found;

		CHECK(compared_bind(&t, args[i].policy));
		found = never_find(t.a, &t.policy, &set, &witness, &d);
		CHECK(found == (args[i].witness[0] != '\0'));
		CHECK(!found || (d.verdict == VERDICT_ALLOW &&
				 d.reason == REASON_GRANTED));
		CHECK_MSG(str_is(witness.text, args[i].witness),
			  "%zu: '%.*s', not '%s'", i, STR_ARG(witness.text),
			  args[i].witness);
		test_policy_done(&t);
	}
}

int main(void)
{
	check_never();
	check_args();
	return check_status();
}
