/*
 * membrane-gate as a launcher has it: what it prints, what lines of its stdin
 * do, and how it ends. Each has a network of its own.
 */
#include "compiler/base/sys/clock.h"
#include "compiler/plan/gate.h"
#include "runtime/gate/packet/fence.h"
#include "runtime/gate/ready.h"
#include "tests/unit/gate/sessions.h"

#include <arpa/inet.h>
#include <signal.h>

static struct gate begin(void)
{
	struct gate g;

	new_network(true);
	g = start("--plan " PLAN);
	tell(&g, HELLO);
	CHECK(says(&g, "\"event\":\"ready\""));
	return g;
}

/* --- other acts ----------------------------------------------------------- */

static void acts(void)
{
	CHECK(run("--help", "usage: membrane-gate") == 0);
	CHECK(run("--version", "membrane-gate ") == 0);
	CHECK(run("--nothing", "usage: membrane-gate") == 2);
	CHECK(run("more", "usage: membrane-gate") == 2);
}

static void checks(void)
{
	struct gate g = start("--check --plan " PLAN);

	CHECK(end_of(&g) == 0 && !g.line[0]);
	put_plan("names.map", NAMES "nonsense\n");
	CHECK(run("--check --plan " PLAN, "\"event\":\"error\"") == 1);
	put_plan("names.map", NAMES);
	put_plan("ruleset.nft", "table inet membrane {\n nonsense\n}\n");
	CHECK(run("--check --plan " PLAN, "nft: ") == 1);
	put_plan("ruleset.nft", NULL);
	CHECK(run("--check --plan " PLAN, "ruleset.nft: No such file") == 1);
	/* of a gate in a Pod of its own there is none */
	put_plan(
		"docker.json",
		"{\"version\":1,\"link\":\"apart\",\"addresses\":[\"10.96.0.53\"]}");
	g = start("--check --plan " PLAN);
	CHECK(end_of(&g) == 0);
	put_plan("docker.json", NULL);
	put_plan("ruleset.nft", RULES);
	put_plan("gate.cfg", "nonsense\n");
	put_plan("profiles.map", "membrane-profiles 1\n");
	CHECK(run("--check --plan " PLAN, "gate.cfg: ") == 1);
	put_plan("gate.cfg", NULL);
	put_plan("profiles.map", NULL);
	put_plan("docker.json", "nonsense");
	CHECK(run("--check --plan " PLAN, "docker.json") == 1);
	put_whole_plan();
	put_plan("names.map", "membrane-names 2\nupstream host\n");
	g = start("--check --plan " PLAN);
	CHECK(end_of(&g) == 0);
	put_whole_plan();
}

static void relays(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), peer;
	socklen_t n = sizeof(at);
	char words[64], c[3];
	struct gate g;

	CHECK(bind(fd, (struct sockaddr *)&at, n) == 0 && listen(fd, 1) == 0 &&
	      getsockname(fd, (struct sockaddr *)&at, &n) == 0);
	snprintf(words, sizeof(words), "--relay 127.0.0.1 %u",
		 ntohs(at.sin_port));
	g = start(words);
	tell(&g, "ask");
	peer = accept(fd, NULL, NULL);
	CHECK(recv(peer, c, 3, MSG_WAITALL) == 3 && memcmp(c, "ask", 3) == 0);
	CHECK(send(peer, "said\n", 5, 0) == 5 && says(&g, "said"));
	close(peer);
	CHECK(end_of(&g) == 0);
	close(fd);
	CHECK(run(words, "membrane-gate: 127.0.0.1: Connection refused") == 1);
	CHECK(run("--relay 127.0.0.1 0", "no address and port") == 1);
}

static void fences(void)
{
	struct gate g;

	new_network(false);
	CHECK(!is_fenced());
	for (int i = 0; i < 2; i++) {
		g = start("--fence");
		CHECK(end_of(&g) == 0 && is_fenced());
	}
	CHECK(fence_lift(&err) == 0 && !is_fenced());
}

static int probe(void)
{
	struct gate g = start("--ready");

	return end_of(&g);
}

/* For as long as its holder lives. */
static void ready(void)
{
	int held[2];
	char c;
	pid_t pid;

	CHECK(probe() == 1);
	CHECK(pipe2(held, O_CLOEXEC) == 0);
	pid = fork();
	if (pid == 0) {
		c = ready_hold(&err) == 0;
		(void)!write(held[1], &c, 1);
		pause();
	}
	CHECK(read(held[0], &c, 1) == 1 && c == 1);
	CHECK(ready_held() && probe() == 0);
	kill(pid, SIGKILL);
	CHECK(waitpid(pid, NULL, 0) == pid && probe() == 1);
	unlink(GATE_READY);
	CHECK(symlink("/run/elsewhere", GATE_READY) == 0);
	put_line("/run/elsewhere", "");
	CHECK(ready_hold(&err) < 0 && strstr(err.text, GATE_READY) &&
	      !ready_held());
	unlink(GATE_READY);
}

/* --- a session ------------------------------------------------------------ */

/* Since it was asked for, whatever there was before. */
static bool took_less(const char *line, int64_t ms)
{
	const char *at = strstr(line, "\"ms\":");

	return at && strtoll(at + 5, NULL, 10) >= 0 &&
	       strtoll(at + 5, NULL, 10) <= ms;
}

static void network(void)
{
	int64_t began_ms = clock_ms();
	struct gate g = begin();
	char want[64];

	CHECK(took_less(g.line, clock_ms() - began_ms));
	CHECK(inode_of(g.pid, "net") != inode_of(getpid(), "net"));
	snprintf(want, sizeof(want), "\"netns\":%lu", inode_of(g.pid, "net"));
	CHECK_MSG(strstr(g.line, want), "%s", g.line);
	snprintf(want, sizeof(want), "\"pidns\":%lu", inode_of(g.pid, "pid"));
	CHECK_MSG(strstr(g.line, want), "%s", g.line);
	CHECK(strstr(g.line, "\"ipv6\":false") && !strstr(g.line, "\"ca\"") &&
	      !strstr(g.line, "\"session\""));
	CHECK(if_nametoindex(LINK_GATE_IF) != 0);
	CHECK(forwards());
	CHECK(nth_child(g.pid, 1) == 0); /* no ports, and nobody for them */
	/* each has one end of what is between them; signals are PID 1's */
	CHECK(count_files(g.pid, "socket:") == 1 &&
	      count_files(g.pid, "anon_inode:[signalfd]") == 1 &&
	      count_files(child_of(g.pid), "anon_inode:[signalfd]") == 0);
	close(g.in);
	g.in = -1;
	while (read_line(g.out, g.line, sizeof(g.line)) &&
	       !strstr(g.line, "\"event\":\"done\""))
		CHECK_MSG(!strstr(g.line, "\"event\":\"error\""), "%s", g.line);
	CHECK(strstr(g.line, "\"event\":\"done\""));
	CHECK(!read_line(g.out, g.line, sizeof(g.line)) && end_of(&g) == 0);
}

/* What a kubelet makes is nothing here. */
static void no_kubelet(void)
{
	struct gate g;

	new_network(true);
	CHECK(symlink("../elsewhere", PLAN "/..data") == 0);
	g = start("--plan " PLAN);
	tell(&g, HELLO);
	CHECK(says(&g, "\"event\":\"ready\""));
	CHECK(end_of(&g) == 0 && unlink(PLAN "/..data") == 0);
}

static void changes(void)
{
	int64_t began_ms = clock_ms();
	struct gate g = begin();

	/* all of these at once, and the last in two pieces */
	tell(&g, "asking on\nasking off\nanswer 7 yes\nchange 2 ke");
	tell(&g, "ep\n");
	CHECK(says(&g, "\"event\":\"generation\"") &&
	      strstr(g.line, "\"generation\":2,\"ok\":true"));
	put_plan("names.map", "nonsense\n");
	tell(&g, "change 3 keep\n");
	CHECK(says(&g, "\"event\":\"generation\"") &&
	      strstr(g.line, "\"generation\":3,\"ok\":false") &&
	      strstr(g.line, "names.map"));
	put_plan("names.map", NAMES);
	put_plan("ruleset.nft", "table inet membrane {\n nonsense\n}\n");
	tell(&g, "change 4 cut\n");
	CHECK(says(&g, "\"event\":\"generation\"") &&
	      strstr(g.line, "ruleset.nft: nft: "));
	CHECK(took_less(g.line, clock_ms() - began_ms));
	put_plan("ruleset.nft", RULES);
	tell(&g, "change 5 cut\n");
	CHECK(says(&g, "\"generation\":5,\"ok\":true"));
	CHECK(end_of(&g) == 0);
	/* the first one of a session, too */
	began_ms = clock_ms();
	g = begin();
	put_plan("names.map", NULL);
	tell(&g, "change 2 keep\n");
	CHECK(says(&g, "\"ok\":false"));
	CHECK(took_less(g.line, clock_ms() - began_ms));
	put_plan("names.map", NAMES);
	CHECK(end_of(&g) == 0);
}

/* What is no line of a launcher's ends the session, in order. */
static void nonsense(void)
{
	static const char *const lines[] = {
		"nonsense\n",	    "\n",
		"change 1 keep\n",  "change 2 drop\n",
		"asking perhaps\n", "answer 0 yes\n",
		"answer 7 maybe\n"};
	static char longest[GATE_RENEWED_MAX + 2];
	struct gate g;

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		g = begin();
		tell(&g, lines[i]);
		CHECK(says(&g, "\"event\":\"done\""));
		CHECK(end_by_itself(&g) == 0);
	}
	g = begin();
	tell(&g, "renewed 1 nonsense\n");
	CHECK(says(&g, "a malformed renewal") &&
	      says(&g, "\"event\":\"done\"") && end_by_itself(&g) == 1);
	memset(longest, 'x', GATE_RENEWED_MAX + 1);
	g = begin();
	tell(&g, longest);
	CHECK(says(&g, "\"event\":\"done\"") && end_by_itself(&g) == 0);
	/* as long as a line may be, it is read to its end */
	memcpy(longest, "renewed 1 ", 10);
	longest[GATE_RENEWED_MAX] = '\n';
	g = begin();
	tell(&g, longest);
	CHECK(says(&g, "a malformed renewal") && end_by_itself(&g) == 1);
}

static void ends(void)
{
	struct gate g = begin();

	CHECK(kill(g.pid, SIGTERM) == 0 && says(&g, "\"event\":\"done\""));
	CHECK(end_of(&g) == 0);
	g = begin();
	kill_child(g.pid);
	while (read_line(g.out, g.line, sizeof(g.line)))
		CHECK(!strstr(g.line, "\"event\":\"done\""));
	CHECK(end_of(&g) == 1);
}

/* --- none ----------------------------------------------------------------- */

static void refusals(void)
{
	static const struct {
		const char *file, *text, *why;
	} plans[] = {
		{"names.map", NULL, "names.map: No such file"},
		{"names.map", "nonsense\n", "names.map"},
		{"provenance.json", NULL, "provenance.json: No such file"},
		{"provenance.json", "[]", "provenance.json"},
		{"ruleset.nft", NULL, "ruleset.nft: No such file"},
		{"ruleset.nft", "nonsense\n", "ruleset.nft: nft: "},
		/* not as the kernel lists it */
		{"ruleset.nft", "add " RULES, "ruleset.nft: line 1: "},
		{"gate.cfg", "x", "profiles.map: No such file"},
		{"names.map", "membrane-names 2\nupstream host\n",
		 "started without"},
		{"names.map", "membrane-names 2\nupstream proxy\n",
		 "nobody has named one"},
		{"docker.json", "{\"version\":1,\"link\":\"wire\"}",
		 "--link wire"},
		{"docker.json",
		 "{\"version\":1,\"link\":\"veth\",\"host_ports\":[22]}",
		 "\"ports of the host: "},
		{"docker.json",
		 "{\"version\":1,\"link\":\"apart\",\"addresses\":[\"10.96.0.53\"]}",
		 "--link apart"},
	};

	for (size_t i = 0; i < sizeof(plans) / sizeof(*plans); i++) {
		new_network(true);
		put_whole_plan();
		put_plan(plans[i].file, plans[i].text);
		refuses("--plan " PLAN, HELLO, plans[i].why);
		put_plan("gate.cfg", NULL);
	}
	put_whole_plan();
	new_network(true);
	refuses("--plan " PLAN, "", "the launcher's line: no whole line");
	refuses("--plan " PLAN, "{}", "the launcher's line: no whole line");
	refuses("--plan " PLAN, "{}\n", "the launcher's line: unknown version");
	new_network(false);
	refuses("--plan " PLAN, HELLO, "no default route");
	refuses("--plan /run/none", HELLO, "/run/none");
}

/* The host's resolver, and a way out that comes later. */
static void beginnings(void)
{
	bool ipv6 = false;
	struct gate g;

	put_plan("names.map", "membrane-names 2\nupstream host\n");
	new_network(true);
	g = start("--resolver 203.0.113.1 --plan " PLAN);
	tell(&g, "{\"version\":1,\"host\":[]}");
	tell(&g, "\n");
	CHECK(says(&g, "\"event\":\"ready\"") && end_of(&g) == 0);
	put_whole_plan();
	/* rules that are there are another gate's */
	refuses("--plan " PLAN, HELLO, "exists already");
	new_network(false);
	g = start("--await-uplink --plan " PLAN);
	tell(&g, HELLO);
	CHECK(link_sink_up(&ipv6, &err) == 0);
	CHECK(says(&g, "\"event\":\"ready\"") && end_of(&g) == 0);
}

int main(void)
{
	if (!enter_room())
		return NOT_HERE;
	find_program();
	put_whole_plan();
	acts();
	checks();
	relays();
	fences();
	ready();
	network();
	no_kubelet();
	changes();
	nonsense();
	ends();
	refusals();
	beginnings();
	return check_status();
}
