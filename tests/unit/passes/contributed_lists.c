/* What a workspace adds and cuts: grants, patterns, arguments, places. */
#include "tests/unit/layered.h"

static const struct {
	const char *global, *workspace, *adds, *cuts;
} list[] = {
	/* the same again, and what narrows */
	{"", "deny: [a.test]\nignore: [.env]", "",
	 "deny a.test tcp/1-65535,udp/1-65535\n"},
	{"allow: [a.test]\nimage: a\nargs: [--rm]", "allow: [a.test]\nimage: a",
	 "", ""},

	/* grants */
	{"",
	 "allow: [a.test, {dest: b.test, tls: inspect}, {dest: c.test, private: true, ports: [443, 53/udp]}]",
	 "allow a.test tcp/1-65535\n"
	 "allow b.test tcp/1-65535 tls=inspect\n"
	 "allow c.test tcp/443,udp/53 private\n",
	 ""},
	{"", "hostnames: [a.test]\ncidrs: [10.0.0.0/8]",
	 "allow 10.0.0.0/8 tcp/1-65535\n"
	 "allow a.test tcp/1-65535\n",
	 ""},
	{"",
	 "allow: [{dest: a.test, http: [{methods: [PUT, GET], paths: [/b, /a]}]}]",
	 "allow a.test tcp/1-65535 http [GET,PUT /a /b]\n", ""},
	{"allow: [{dest: a.test, tls: inspect}]", "allow: [a.test]",
	 "allow a.test tcp/1-65535\n", ""},
	{"allow: [{dest: a.test, tls: inspect}]",
	 "allow: [{dest: a.test, tls: verify}]",
	 "allow a.test tcp/1-65535 tls=verify\n", ""},
	{"allow: [{dest: a.test, tls: verify}]",
	 "allow: [{dest: a.test, tls: verify, ports: [443]}]", "", ""},
	{"allow: [\"**.a.test\"]",
	 "allow: [b.a.test, c.b.a.test, \"*.a.test\", \"*.b.a.test\", \"**.b.a.test\", a.test]",
	 "allow a.test tcp/1-65535\n", ""},
	{"allow: [\"*.a.test\"]",
	 "allow: [b.a.test, c.b.a.test, \"**.a.test\", \"*.a.test\"]",
	 "allow **.a.test tcp/1-65535\n"
	 "allow c.b.a.test tcp/1-65535\n",
	 ""},
	{"allow: [\"*\"]", "allow: [a.test, \"*.b.test\", 8.8.8.8]",
	 "allow 8.8.8.8/32 tcp/1-65535\n", ""},
	{"allow: [10.0.0.0/8, 10.0.0.0/16, \"2001:db8::/32\"]",
	 "allow: [10.0.0.1, 10.0.0.0/9, 11.0.0.1, \"2001:db8::1\", \"2001:db9::1\"]",
	 "allow 11.0.0.1/32 tcp/1-65535\n"
	 "allow 2001:db9::1/128 tcp/1-65535\n",
	 ""},
	{"allow: [{dest: 10.0.0.0/8, ports: [80]}, {dest: 10.0.0.0/8, ports: [443]}]",
	 "allow: [{dest: 10.1.0.0/16, ports: [443]}, {dest: 10.1.0.0/16, ports: [80, 443]}]",
	 "allow 10.1.0.0/16 tcp/80,tcp/443\n", ""},
	{"allow: [{dest: a.test, ports: [80]}, {dest: a.test, ports: [443]}]",
	 "allow: [{dest: a.test, ports: [443]}, {dest: a.test, ports: [22]}]",
	 "allow a.test tcp/22\n", ""},
	{"allow: [128.0.0.0/1]", "allow: [169.254.169.254]",
	 "allow 169.254.169.254/32 tcp/1-65535\n", ""},
	{"allow: [169.254.0.0/16]", "allow: [169.254.169.254]",
	 "allow 169.254.169.254/32 tcp/1-65535\n", ""},
	{"allow: [169.254.0.0/17]", "allow: [169.254.1.1]", "", ""},
	{"allow: [169.254.0.0/17]", "allow: [169.254.0.0/16]",
	 "allow 169.254.0.0/16 tcp/1-65535\n", ""},
	{"allow: [\"https://a.test/x\"]",
	 "allow: [\"https://a.test/x\", \"https://a.test/x/y\", \"https://a.test/\"]",
	 "allow https://a.test/ tcp/443\n"
	 "allow https://a.test/x/y tcp/443\n",
	 ""},
	{"allow: [\"a.test:443\"]",
	 "allow: [\"https://a.test/x\", \"http://a.test/x\"]",
	 "allow http://a.test/x tcp/80\n", ""},

	/* private addresses are more */
	{"allow: [{dest: a.test, private: true}]",
	 "allow: [{dest: a.test, private: true, ports: [443]}, {dest: a.test, ports: [80]}]",
	 "", ""},
	{"allow: [a.test]",
	 "allow: [{dest: a.test, private: false, ports: [443]}]", "", ""},
	{"allow: [{dest: a.test, private: false}]",
	 "allow: [{dest: a.test, private: true, ports: [443]}]",
	 "allow a.test tcp/443 private\n", ""},

	/* what may be asked about */
	{"", "ask: [a.test, {dest: b.test, for: always, wait: 10m}]",
	 "ask a.test tcp/1-65535 for=session wait=1m\n"
	 "ask b.test tcp/1-65535 for=always wait=10m\n",
	 ""},
	{"allow: [a.test]", "ask: [a.test]", "", ""},
	{"ask: [a.test]", "ask: [a.test]", "", ""},
	{"ask: [a.test]", "allow: [a.test]", "allow a.test tcp/1-65535\n", ""},
	{"ask: [{dest: a.test, for: always}]",
	 "ask: [{dest: a.test, for: session}]", "", ""},
	{"ask: [{dest: a.test, for: once}]",
	 "ask: [{dest: a.test, for: session}]",
	 "ask a.test tcp/1-65535 for=session wait=1m\n", ""},
	{"ask: [{dest: a.test, for: session}]",
	 "ask: [{dest: a.test, for: always}]",
	 "ask a.test tcp/1-65535 for=always wait=1m\n", ""},
	{"ask: [{dest: a.test, wait: 60s}]",
	 "ask: [{dest: a.test, wait: 60s, ports: [443]}]", "", ""},
	{"ask: [{dest: a.test, wait: 60s}]", "ask: [{dest: a.test, wait: 61s}]",
	 "ask a.test tcp/1-65535 for=session wait=61s\n", ""},
	{"ask: [{dest: a.test, wait: 60s}]", "ask: [{dest: a.test, wait: 59s}]",
	 "", ""},
	{"ask: [\"*.test\"]", "ask: [a.test, a.b.test]",
	 "ask a.b.test tcp/1-65535 for=session wait=1m\n", ""},

	/* denials, and what may never be */
	{"allow: [a.test]",
	 "deny: [b.test, \"10.0.0.0/8:22\", {dest: c.test, ports: [80], http: [{methods: [PUT]}]}]",
	 "",
	 "deny 10.0.0.0/8 tcp/22\n"
	 "deny b.test tcp/1-65535,udp/1-65535\n"
	 "deny c.test tcp/80 http [PUT *]\n"},
	{"",
	 "tests: {never: [\"*:25\", {read: .env}, {docker_arg: --privileged}]}",
	 "",
	 "never * tcp/25\n"
	 "never docker-arg --privileged\n"
	 "never read .env\n"},
	{"deny: [a.test]\ntests: {never: [\"*:25\"]}", "deny: [a.test]", "",
	 "deny a.test tcp/1-65535,udp/1-65535\n"},

	/* patterns */
	{"ignore: [.env]", "ignore: [\"!.env\"]", "ignore !.env\n", ""},
	{"ignore: [.env]", "ignore: [a, \"!.env\", b, \"!.env\", c]",
	 "ignore !.env\n"
	 "ignore !.env\n",
	 "ignore a behind 0\n"
	 "ignore b behind 1\n"
	 "ignore c behind 2\n"},
	{"ignore: [.env]", "ignore: [\"!other\", a]", "", ""},
	{"readonly: [/a]", "readonly: [\"!/a\", /b]", "readonly !/a\n",
	 "readonly /b behind 1\n"},
	{"ignore: [x]", "readonly: [\"!x\", y]", "", ""},
	{"readonly: [x]", "ignore: [\"!x\", y]", "", ""},
	{"ignore: [.env, \"!.env\"]", "ignore: [\"!.env\"]", "ignore !.env\n",
	 ""},
	{"", "readonly: [\"!/.git/hooks/\"]", "readonly !/.git/hooks/\n", ""},
	{"", "ignore: [.a, \"!.a\", .b]", "", ""},

	{"ignore: [x]\nreadonly: [y]", "ignore: ['!x', a]\nreadonly: ['!y', b]",
	 "ignore !x\nreadonly !y\n",
	 "ignore a behind 1\nreadonly b behind 1\n"},

	/* arguments, one option a line */
	{"", "args: [--rm, -e, A=b, --privileged=true, --volume=/a:/b]",
	 "args --rm\n"
	 "args --env A=b\n"
	 "args --privileged=true\n"
	 "args --volume /a:/b\n",
	 ""},
	{"", "args: [-it]",
	 "args --interactive\n"
	 "args --tty\n",
	 ""},
	{"", "args: [-iZ, --rm]",
	 "args --interactive\n"
	 "args -iZ\n"
	 "args --rm\n",
	 ""},
	{"", "args: [--rm, word, --rm]",
	 "args --rm\n"
	 "args word\n"
	 "args --rm\n",
	 ""},
	{"", "args: [--nosuch, x]",
	 "args --nosuch\n"
	 "args x\n",
	 ""},
	{"", "args: [-e]", "args -e\n", ""},

	/* ports, paths of the machine, folders past the view */
	{"", "ports: [3000, \"80:8080\"]",
	 "ports 3000\n"
	 "ports 80:8080\n",
	 ""},
	{"", "visible: [/srv/a, {path: ~/b, mode: write}]",
	 "visible read /srv/a\n"
	 "visible write ~/b\n",
	 ""},
	{"visible: [/srv]", "visible: [/srv/a, {path: /srv/b, mode: write}]",
	 "visible write /srv/b\n", ""},
	{"visible: [{path: /srv/x, mode: write}]",
	 "visible: [/srv/x/a, {path: /srv/x/b, mode: write}]", "", ""},
	{"", "masks: {fast: [b, a]}",
	 "masks.fast a\n"
	 "masks.fast b\n",
	 ""},
	{"masks: start", "masks: hold", "", "masks hold\n"},
	{"masks: hold", "masks: start", "masks start\n", ""},
	{"masks: start", "masks: start", "", ""},
	{"runtime: kata", "masks: start", "", ""},
	{"", "runtime: kata\nmasks: start",
	 "masks start\n"
	 "runtime kata\n",
	 ""},
};

int main(void)
{
	for (size_t i = 0; i < ARRAY_LEN(list); i++)
		check_contributed(list[i].global, list[i].workspace,
				  list[i].adds, list[i].cuts);
	return check_status();
}
