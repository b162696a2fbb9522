/*
 * What the passes say of a policy: what contradicts itself, what cannot be
 * enforced, and whose file may say it.
 */
#include "compiler/base/limits.h"
#include "tests/unit/layered.h"

/* The user's file, that of the workspace or NULL, and what is said. */
static const struct {
	const char *global, *workspace, *want;
} list[] = {
	/* rules on requests are for TCP */
	{"allow: [{dest: a.test, ports: [443, 53/udp], http: [{methods: [GET]}]}]",
	 NULL,
	 "36-42 E703 'http' rules on a UDP port | list TCP ports here, and the UDP port in an entry of its own\n"},
	{"allow: [{dest: a.test, ports: [443], http: [{methods: [GET]}]}]",
	 NULL, ""},
	{"allow: [{dest: a.test, ports: [443, 53/udp]}]", NULL,
	 ""},
	{"allow: [{dest: a.test, ports: [53/udp], http: [{}]}, {dest: b.test, ports: [53/udp], http: [{}]}]",
	 NULL,
	 "31-37 E703 'http' rules on a UDP port | list TCP ports here, and the UDP port in an entry of its own\n"
	 "76-82 E703 'http' rules on a UDP port | list TCP ports here, and the UDP port in an entry of its own\n"},

	/* datagrams do not go by a proxy */
	{"upstream: http://p.test:3128\nallow: [\"a.test:53/udp\"]",
	 NULL,
	 "45-51 E708 UDP does not go by a proxy | what is under 'direct' goes past it; HTTP/3 clients go on with TCP where UDP is closed\n"
	 "config.yaml:1:11: note: which is named here\n"},
	{"upstream: http://p.test:3128\nallow: [\"a.test:53\"]",
	 NULL, ""},
	{"upstream: {proxy: \"http://p.test:3128\", direct: [a.test]}\nallow: [\"a.test:53/udp\"]",
	 NULL, ""},
	{"upstream: {proxy: \"http://p.test:3128\", direct: [b.test]}\nallow: [\"a.test:53/udp\"]",
	 NULL,
	 "74-80 E708 UDP does not go by a proxy | what is under 'direct' goes past it; HTTP/3 clients go on with TCP where UDP is closed\n"
	 "config.yaml:1:19: note: which is named here\n"},
	{"upstream: {proxy: \"http://p.test:3128\", direct: [10.0.0.0/8]}\nallow: [\"10.1.0.0/16:53/udp\", \"11.0.0.0/8:53/udp\"]",
	 NULL,
	 "104-110 E708 UDP does not go by a proxy | what is under 'direct' goes past it; HTTP/3 clients go on with TCP where UDP is closed\n"
	 "config.yaml:1:19: note: which is named here\n"},
	{"upstream: http://p.test:3128\nallow: [{dest: a.test, ports: [53, 54/udp], http: [{}]}]",
	 NULL,
	 "64-70 E703 'http' rules on a UDP port | list TCP ports here, and the UDP port in an entry of its own\n"
	 "64-70 E708 UDP does not go by a proxy | what is under 'direct' goes past it; HTTP/3 clients go on with TCP where UDP is closed\n"
	 "config.yaml:1:11: note: which is named here\n"},

	/* certificates of addresses */
	{"allow: [\"https://192.0.2.1/\"]", NULL,
	 "8-28 E706 the certificate of an address cannot be checked | grant a name, or the address and its port as a whole\n"},
	{"allow: [\"http://192.0.2.1/\"]", NULL, ""},
	{"ask: [\"https://[2001:db8::1]/\"]", NULL,
	 "6-30 E706 the certificate of an address cannot be checked | grant a name, or the address and its port as a whole\n"},
	{"allow: [{dest: 10.0.0.0/8, tls: inspect}]", NULL,
	 "32-39 E706 'tls: inspect' for addresses without a name | what is granted by address passes as it is; with 'http' requests are decided\n"},
	{"allow: [{dest: 10.0.0.0/8, tls: verify}]", NULL, ""},
	{"allow: [{dest: 10.0.0.0/8, tls: inspect, http: [{}]}]",
	 NULL, ""},
	{"allow: [{dest: a.test, tls: inspect}]", NULL, ""},
	{"ask: [{dest: 10.0.0.0/8, tls: inspect}]", NULL,
	 "30-37 E706 'tls: inspect' for addresses without a name | what is granted by address passes as it is; with 'http' requests are decided\n"},
	{"deny: [\"https://192.0.2.1/\"]", NULL, ""},

	/* a trace */
	{"runtime: kata", NULL,
	 "9-13 E806 nothing can be traced: Kata gives the agent a virtual machine, and no tracer sees into it from outside | --no-trace, or 'trace: {engine: \"off\"}', runs without a trace; other runtimes have one\n"},
	{"runtime: kata\ntrace: {engine: \"off\"}", NULL, ""},
	{"trace: {required: true, engine: \"off\"}", NULL,
	 "18-22 E806 a trace is required, and nothing records one | 'engine: native' does\n"},
	{"trace: {required: true}", NULL, ""},
	{"trace: {events: [exec]}", NULL,
	 "17-21 E600 unknown event 'exec' | did you mean 'sched_process_exec'?\n"},
	{"trace: {events: [execvee]}", NULL,
	 "17-24 E600 unknown event 'execvee' | did you mean 'execve'?\n"},
	{"trace: {required: false, engine: \"off\"}", NULL, ""},
	{"runtime: sysbox-runc", NULL, ""},

	/* addresses that stand in for names */
	{"upstream: http://p.test:3128\nallow: [192.0.2.1]",
	 NULL,
	 "37-46 E807 addresses of 192.0.2.0/24 stand in for names that go by the proxy, and are nobody's | leave them out: nobody has addresses for documentation\n"
	 "config.yaml:1:11: note: it is named here\n"},
	{"upstream: http://p.test:3128\nallow: [192.0.2.0/24]",
	 NULL,
	 "37-49 E807 addresses of 192.0.2.0/24 stand in for names that go by the proxy, and are nobody's | leave them out: nobody has addresses for documentation\n"
	 "config.yaml:1:11: note: it is named here\n"},
	{"upstream: http://p.test:3128\nallow: [192.0.0.0/16]",
	 NULL,
	 "37-49 E807 addresses of 192.0.2.0/24 stand in for names that go by the proxy, and are nobody's | write networks without them, or '*' for all that is public\n"
	 "config.yaml:1:11: note: it is named here\n"},
	{"upstream: http://p.test:3128\nallow: [192.0.3.0/24]",
	 NULL, ""},
	{"upstream: {proxy: \"http://p.test:3128\", direct: [198.51.0.0/16, 203.0.113.7]}",
	 NULL,
	 "49-62 E807 addresses of 198.51.100.0/24 stand in for names that go by the proxy, and are nobody's | write networks without them, or '*' for all that is public\n"
	 "64-75 E807 addresses of 203.0.113.0/24 stand in for names that go by the proxy, and are nobody's | leave them out: nobody has addresses for documentation\n"
	 "config.yaml:1:19: note: it is named here\n"
	 "config.yaml:1:19: note: it is named here\n"},
	{"allow: [192.0.2.1]", NULL, ""},
	{"upstream: http://p.test:3128\nallow: [\"*\"]", NULL,
	 ""},

	/* who renews tokens */
	{"upstream: http://p.test:3128\nuplink: net\ncredentials: [{host: a.test, file: ~/a, fields: [access, refresh], refresh: \"https://a.test/t\"}]",
	 NULL,
	 "117-135 E807 tokens are not renewed by a proxy that a network of Docker's leads to | without 'uplink' the proxy is reached from this machine; without 'refresh' its programs renew them\n"
	 "config.yaml:2:9: note: the network is named here\n"},
	{"upstream: http://p.test:3128\ncredentials: [{host: a.test, file: ~/a, fields: [access, refresh], refresh: \"https://a.test/t\"}]",
	 NULL, ""},
	{"uplink: net\ncredentials: [{host: a.test, file: ~/a, fields: [access, refresh], refresh: \"https://a.test/t\"}]",
	 NULL, ""},
	{"upstream: http://p.test:3128\nuplink: net\ncredentials: [{host: a.test, header: X, from_env: T}]",
	 NULL, ""},
	{"upstream: http://p.test:3128\nuplink: net\nallow: [192.0.2.1]\ncredentials: [{host: a.test, file: ~/a, fields: [access, refresh], refresh: \"https://a.test/t\"}]",
	 NULL,
	 "49-58 E807 addresses of 192.0.2.0/24 stand in for names that go by the proxy, and are nobody's | leave them out: nobody has addresses for documentation\n"
	 "136-154 E807 tokens are not renewed by a proxy that a network of Docker's leads to | without 'uplink' the proxy is reached from this machine; without 'refresh' its programs renew them\n"
	 "config.yaml:1:11: note: it is named here\n"
	 "config.yaml:2:9: note: the network is named here\n"},

	/* ports of the machine */
	{"ports: [3000, \"3001:3000\"]", NULL, ""},
	{"ports: [3000, \"3000:80\"]", NULL,
	 "14-23 E321 '3000' and '3000:80' publish one port twice | give one of them another port in front\n"
	 "config.yaml:1:9: note: here\n"},
	{"ports: [3000]", "ports: [3000]", ""},
	{"ports: [\"3000:80\"]",
	 "ports: [\"127.0.0.1:3000:81\"]",
	 "8-27 E321 '3000:80' and '3000:81' publish one port twice | give one of them another port in front\n"
	 "config.yaml:1:9: note: here\n"},
	{"ports: [\"10.0.0.1:3000:80\", \"10.0.0.2:3000:80\"]",
	 NULL, ""},
	{"ports: [\"10.0.0.1:3000:80\", \"10.0.0.1:3001:80\"]",
	 NULL, ""},
	{"ports: [\"3000:1\", \"3000:2\", \"3000:3\"]", NULL,
	 "18-26 E321 '3000:1' and '3000:2' publish one port twice | give one of them another port in front\n"
	 "28-36 E321 '3000:1' and '3000:3' publish one port twice | give one of them another port in front\n"
	 "28-36 E321 '3000:2' and '3000:3' publish one port twice | give one of them another port in front\n"
	 "config.yaml:1:9: note: here\n"
	 "config.yaml:1:9: note: here\n"
	 "config.yaml:1:19: note: here\n"},

	/* paths of the machine */
	{"visible: [~/a, {path: ~/a, mode: write}]", NULL,
	 "22-25 E526 '~/a' is to be read, and to be written | leave one of the two out\n"
	 "config.yaml:1:11: note: here\n"},
	{"visible: [~/a]",
	 "visible: [{path: ~/a/, mode: write}]",
	 "17-21 E526 '~/a' is to be read, and to be written | leave one of the two out\n"
	 "config.yaml:1:11: note: here\n"},
	{"visible: [/a]", "visible: [{path: ~/a, mode: write}]",
	 ""},
	{"visible: [/a, {path: /a/b, mode: write}]", NULL, ""},
	{"visible: [/srv/a, {path: /srv/a, mode: write}, {path: /srv/a/b, mode: write}, /srv/a/b]",
	 NULL,
	 "25-31 E526 '/srv/a' is to be read, and to be written | leave one of the two out\n"
	 "54-62 E526 '/srv/a/b' is to be read, and to be written | leave one of the two out\n"
	 "config.yaml:1:11: note: here\n"
	 "config.yaml:1:79: note: here\n"},

	/* for the global file alone */
	{"", "workspace_trust: never",
	 "17-22 E700 'workspace_trust' is for the global file alone | move it to ~/.membrane/config.yaml; a workspace does not decide whether it is trusted\n"},
	{"", "on_refusal: [/bin/true]",
	 "0-10 E700 'on_refusal' is for the global file alone | move it to ~/.membrane/config.yaml; a workspace does not decide what is started on this machine\n"},
	{"workspace_trust: never\non_refusal: [/bin/true]",
	 NULL, ""},
	{"", "workspace_trust: never\non_refusal: [/bin/true]",
	 "17-22 E700 'workspace_trust' is for the global file alone | move it to ~/.membrane/config.yaml; a workspace does not decide whether it is trusted\n"
	 "23-33 E700 'on_refusal' is for the global file alone | move it to ~/.membrane/config.yaml; a workspace does not decide what is started on this machine\n"},

	/* folders past the view */
	{"masks: {fast: [a]}\nignore: [.env]", NULL, ""},
	{"masks: {fast: [a]}\nignore: [/a/x]", NULL,
	 "15-16 E526 in 'a' something is hidden | a fast folder is as it is on the host: name a smaller one, as 'node_modules/' or '.git/objects/'\n"
	 "config.yaml:2:10: note: here\n"},
	{"masks: {fast: [a]}\nignore: [/a]", NULL, "15-16 E526 'a' is hidden, and so cannot be fast | a fast folder is as it is on the host: name a smaller one, as 'node_modules/' or '.git/objects/'\n"
	 "config.yaml:2:10: note: here\n"},
	{"masks: {fast: [a]}\nreadonly: [/a/]", NULL,
	 "15-16 E526 'a' is read-only, and so cannot be fast | a fast folder is as it is on the host: name a smaller one, as 'node_modules/' or '.git/objects/'\n"
	 "config.yaml:2:12: note: here\n"},
	{"masks: {fast: [a/b]}\nreadonly: [a]", NULL,
	 "15-18 E526 'a/b' is read-only, and so cannot be fast | a fast folder is as it is on the host: name a smaller one, as 'node_modules/' or '.git/objects/'\n"
	 "config.yaml:2:12: note: here\n"},
	{"masks: {fast: [a/b/c]}\nignore: [/a/b/]", NULL,
	 "15-20 E526 'a/b/c' is hidden, and so cannot be fast | a fast folder is as it is on the host: name a smaller one, as 'node_modules/' or '.git/objects/'\n"
	 "config.yaml:2:10: note: here\n"},
	{"masks: {fast: [a]}\nignore: [/ab]", NULL, ""},
	{"masks: {fast: [ab]}\nignore: [/a]", NULL, ""},
	{"masks: {fast: [a]}\nignore: [/a/x, \"!/a/x\"]", NULL,
	 ""},
	{"masks: {fast: [a]}\nignore: [/a, \"!/a\"]", NULL, ""},
	/* what is hidden where it is no folder */
	{"masks: {fast: [a]}\nignore: [/a, \"!/a/\"]", NULL,
	 "15-16 E526 in 'a' something is hidden | a fast folder is as it is on the host: name a smaller one, as 'node_modules/' or '.git/objects/'\n"
	 "config.yaml:2:10: note: here\n"},
	{"masks: {fast: [a]}\nignore: [/a/x/]", NULL,
	 "15-16 E526 in 'a' something is hidden | a fast folder is as it is on the host: name a smaller one, as 'node_modules/' or '.git/objects/'\n"
	 "config.yaml:2:10: note: here\n"},
	{"masks: {fast: [a]}\nignore: [/a/x]\nreadonly: [/a/y]",
	 NULL,
	 "15-16 E526 in 'a' something is hidden | a fast folder is as it is on the host: name a smaller one, as 'node_modules/' or '.git/objects/'\n"
	 "15-16 E526 in 'a' something is read-only | a fast folder is as it is on the host: name a smaller one, as 'node_modules/' or '.git/objects/'\n"
	 "config.yaml:2:10: note: here\n"
	 "config.yaml:3:12: note: here\n"},
	{"masks: {fast: [a, b]}\nignore: [/a/x, /b/x]", NULL,
	 "15-16 E526 in 'a' something is hidden | a fast folder is as it is on the host: name a smaller one, as 'node_modules/' or '.git/objects/'\n"
	 "18-19 E526 in 'b' something is hidden | a fast folder is as it is on the host: name a smaller one, as 'node_modules/' or '.git/objects/'\n"
	 "config.yaml:2:10: note: here\n"
	 "config.yaml:2:16: note: here\n"},
	{"masks: {fast: [.git/objects]}", NULL, ""},
	{"masks: {fast: [a/b, a]}\nignore: [/a/b/x]", NULL,
	 "20-21 E526 in 'a' something is hidden | a fast folder is as it is on the host: name a smaller one, as 'node_modules/' or '.git/objects/'\n"
	 "config.yaml:2:10: note: here\n"},
	{"runtime: kata\ntrace: {engine: \"off\"}\nmasks: {fast: [a]}\nignore: [/a]",
	 NULL,
	 "52-53 E526 'a' is hidden, and so cannot be fast | a fast folder is as it is on the host: name a smaller one, as 'node_modules/' or '.git/objects/'\n"
	 "config.yaml:4:10: note: here\n"},
};

static void check_refused(void)
{
	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		const char *workspace = list[i].workspace;
		struct layered l;
		struct str got;
		bool ok;

		layered_two(&l, list[i].global, workspace);
		ok = layered_pass(&l);
		got = rig_said(&l.r);
		CHECK_MSG(str_is(got, list[i].want), "%s\n%s\n%.*s",
			  list[i].global, workspace ? workspace : "",
			  STR_ARG(got));
		CHECK_MSG(ok == (l.r.diags.errors == 0), "%s", list[i].global);
		layered_done(&l);
	}
}

/* A preset is told apart from a workspace. */
static void check_preset(void)
{
	struct layered l;
	struct str got;

	layered_init(&l);
	layered_add(&l, LAYER_PRESET, "preset:x", "workspace_trust: never");
	CHECK(!layered_normalise(&l));
	got = rig_said(&l.r);
	CHECK_MSG(str_is(got, "17-22 E700 'workspace_trust' is for the global file alone | move it to ~/.membrane/config.yaml; a preset does not decide whether it is trusted\n"),
		  "%.*s", STR_ARG(got));
	layered_done(&l);
}

/* "KEY: [FORM, FORM]", as many as there are from one number to another. */
static const char *many(struct arena *a, const char *before, const char *form,
			const char *after, unsigned from, unsigned to)
{
	struct buf b;

	buf_init(&b, a);
	buf_adds(&b, before);
	for (unsigned i = from; i < to; i++) {
		struct str rest = str_of(form), part;

		str_field(&rest, '#', &part);
		buf_addf(&b, "%s%.*s%u%.*s", i > from ? "," : "", STR_ARG(part),
			 i, STR_ARG(rest));
	}
	buf_adds(&b, after);
	return b.p;
}

/* In each list as many as may be, of which the last is the workspace's; and
 * one more. */
static void check_limits(void)
{
	static const struct {
		const char *before, *form, *after;
		unsigned limit;
		const char *what;
	} lists[] = {
		{"ignore: [", "a#", "]", LIMIT_PATTERNS, "ignore patterns"},
		{"masks: {fast: [", "a#", "]}", LIMIT_FAST, "fast folders"},
		{"ports: [", "1#", "]", LIMIT_PUBLISHED, "published ports"},
		{"visible: [", "/srv/a#", "]", LIMIT_VISIBLE, "visible paths"},
		{"args: [", "a#", "]", LIMIT_ARGS, "docker arguments"},
		{"allow_lint: [", "{id: any-grant, reason: a#}", "]",
		 LIMIT_WAIVERS, "entries of 'allow_lint'"},
		{"refused_on_purpose: [", "{dest: a#.test, reason: a}", "]",
		 LIMIT_WAIVERS, "entries of 'refused_on_purpose'"},
	};

	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		for (unsigned more = 0; more < 2; more++) {
			unsigned n = lists[i].limit;
			struct diag_view v;
			struct layered l;
			char want[80];

			layered_init(&l);
			layered_add(&l, LAYER_GLOBAL, "config.yaml",
				    many(l.r.a, lists[i].before, lists[i].form,
					 lists[i].after, 0, n - 1));
			layered_add(&l, LAYER_WORKSPACE, ".membrane.yaml",
				    many(l.r.a, lists[i].before, lists[i].form,
					 lists[i].after, n - 1, n + more));
			snprintf(want, sizeof(want),
				 "%u %s in all layers, more than %u", n + 1,
				 lists[i].what, n);
			CHECK_MSG(passes_layers(&l.r.c, &l.docs, &l.p) == !more,
				  "%s", want);
			CHECK_MSG(l.r.diags.errors == more, "%s", want);
			if (more && diags_get(&l.r.diags, 0, &v))
				CHECK_MSG(str_is(v.text, want), "%.*s",
					  STR_ARG(v.text));
			layered_done(&l);
		}
}

/* The same of the longest lists, without their text; the floor counts. */
static void check_grant_limits(enum ir_grant_key key, const char *what)
{
	static const char *const yaml[] = {[IR_KEY_ALLOW] = "allow: [a.test]",
					   [IR_KEY_ASK] = "ask: [a.test]",
					   [IR_KEY_DENY] = "deny: [a.test]"};

	for (unsigned more = 0; more < 2; more++) {
		struct layered l;
		struct ir_policy *p;
		ir_grants *to, *all;
		struct diag_view v = {0};
		struct ir_grant one;
		char want[80];

		layered_two(&l, "{}", yaml[key]);
		CHECK(passes_layers(&l.r.c, &l.docs, &l.p));
		p = &l.docs.v[1].policy;
		to = key == IR_KEY_ALLOW ? &p->allow
		     : key == IR_KEY_ASK ? &p->ask
					 : &p->deny;
		all = key == IR_KEY_ALLOW ? &l.p.allow
		      : key == IR_KEY_ASK ? &l.p.ask
					  : &l.p.deny;
		one = to->v[0];
		for (unsigned n = all->n; n < LIMIT_GRANTS + more; n++)
			*vec_push(l.r.a, to) = one;
		CHECK(passes_layers(&l.r.c, &l.docs, &l.p) == !more);
		snprintf(want, sizeof(want),
			 "%u %s in all layers, more than %u", LIMIT_GRANTS + 1,
			 what, LIMIT_GRANTS);
		CHECK(diags_get(&l.r.diags, 0, &v) == more);
		CHECK_MSG(!more || str_is(v.text, want), "%s", want);
		layered_done(&l);
	}
}

int main(void)
{
	check_refused();
	check_preset();
	check_limits();
	check_grant_limits(IR_KEY_ALLOW, "grants");
	check_grant_limits(IR_KEY_ASK, "entries of 'ask'");
	check_grant_limits(IR_KEY_DENY, "denials");
	return check_status();
}
