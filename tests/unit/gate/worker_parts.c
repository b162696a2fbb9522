/*
 * The worker, with every part of it played by this test: what it calls in which
 * order, what it hands to whom, how long it waits, and what becomes of a
 * session where any of that fails.
 */
#include "tests/unit/gate/worker_parts.h"

/* --- runs ----------------------------------------------------------------- */

static int run_worker(void)
{
	return worker_run(&scene.args);
}

static int run_check(void)
{
	return worker_check("/plan");
}

static void new_scene(enum uplink_kind uplink)
{
	scene = (struct scene){
		.args = {.uplink = uplink,
			 .plan = "/plan",
			 .supervisor = SUPERVISOR,
			 .start_ms = 4000},
		.pieces = {"the launcher's\n"},
		.waits = {{.rc = 1}, {.rc = 1}, {.rc = 1}, {.rc = 1}},
		.told = {{{.word = WORKER_AGENT}, sizeof(struct worker_msg)},
			 {{.word = WORKER_UP, .netns = 8, .pidns = 9},
			  sizeof(struct worker_msg)}},
	};
	for (unsigned i = 0; i < TURNS; i++)
		scene.turns[i] = (struct turn){.ready = {SUPERVISOR},
					       .dns = 1000,
					       .l7 = 5000,
					       .asking = -1,
					       .out = -1,
					       .change = -1};
	time_ms = 5000;
}

/* It says this, and ends with 0. */
static void says(const char *want)
{
	CHECK(play_act(run_worker, 0, NULL));
	CHECK(same_lines(played->said, want));
}

/* Of the turn that ends it. */
#define NO_BEGIN "complain 1 1\nuplink_return\n= 1\n"
#define FDS	 "50 51 52 53 55 56 57"
#define LAST	 "poll 1000: " FDS "\nrecv 49176\n"
#define LOGS	 "nflog_read 51\nnflog_read 52\n"
#define ENDED                                                                  \
	"report_idle all\noutlog_finish\nreport_folded\nline \"done\"\n"       \
	"outlog_finish\n"
#define DONE  "l7_end\nuplink_return\n" ENDED "= 0\n"
#define HEARD "wait 0 30000\nread 0 65536\nhello_parse the launcher's\n"
#define OPENED                                                                 \
	"resolved_init\nnftset_open\nnflog_open 78\nnflog_open 77\n"           \
	"flows_open\nasking_found found.test\n"
#define VETH(v)                                                                \
	"wait 50 10000\nrecv 24\nlink_gate_up 1400 " v "\nsend 2 " v "\n"      \
	"ruleset_verify\nwait 50 10000\nrecv 24\n"

/* --- how it begins -------------------------------------------------------- */

/* By a broker and a proxy, with roots beside the system's and questions. */
static void by_sockets(void)
{
	new_scene(UPLINK_SOCKETS);
	scene.args.broker = BROKER;
	scene.proxied = scene.asks = scene.added = scene.wanted = true;
	scene.ipv6 = scene.counted = true;
	says("prctl 1 9\nuplink_leave 2 40\ngeneration_load 1\n" HEARD
	     "fcntl 40 2\nstandins_new\nl7_failures\n"
	     "onward_start 11.128:3128 me:pass 40\n"
	     "asking_open /run/gate/ask.sock\nl7_init\nroots_write 1\n"
	     "l7_authority\nl7_start own=0 ipv6=0 - broker=0\n"
	     "ruleset_load\nuplink_find\nruleset_hosts\nlink_tproxy_up\n" VETH(
		     "1") OPENED
	     "dns_gate_open " LINK_GATE_V4 ">" LINK_AGENT_V4 " " LINK_GATE_V6
	     ">" LINK_AGENT_V6 " ipv6=1 doors=0 port=0 broker=40\n"
	     "resolved_addr host 192.5\nmachine_open 0 0 /ports\n"
	     "caps_drop 1\nsend 4 1\nplanfile_read /run/gate roots.pem\n"
	     "line of roots\noutlog_drain 2000\n"
	     "line \"roots\",\"pem\":\"r\"\noutlog_drain 2000\n"
	     "planfile_free 3585\nca_pem\n"
	     "line \"ready\",\"ipv6\":true,\"ms\":1000,\"ca\":\"the CA\","
	     "\"netns\":8,\"pidns\":9\noutlog_drain 100\n"
	     "poll 1000: 50 51 52 53 54 55 56 57\nrecv 49176\n"
	     "link_gate_down\n" LOGS DONE);
	CHECK(same_lines(played->aside, "wipe 15\nwipe 1064\ntrim 0\n"));
	each_fails(run_worker, "poll ", NO_BEGIN);
	CHECK(play_act(run_worker, 1, "uplink_return"));
	CHECK(same_lines(played->said,
			 "prctl 1 9\nuplink_leave 2 40\ncomplain 1 1\n"
			 "uplink_return\ncomplain 1 1\n= 1\n"));
	scene.no_proxy = true;
	CHECK(play_act(run_worker, 0, NULL));
	CHECK(same_lines(played->said,
			 "prctl 1 9\nuplink_leave 2 40\n"
			 "generation_load 1\n" HEARD "fcntl 40 2\n" NO_BEGIN));
}

/* By the broker alone, and HAProxy by it, too; a trial waits for that. */
static void by_broker(void)
{
	new_scene(UPLINK_SOCKETS);
	scene.args.broker = BROKER;
	scene.args.vectors.host = (struct planfile_ports){{7001}, 1};
	scene.wanted = scene.trial = scene.decrypts = true;
	says("prctl 1 9\nuplink_leave 2 40\ngeneration_load 1\n" HEARD
	     "fcntl 40 2\nl7_init\n"
	     "l7_start own=0 ipv6=0 - broker=40\n"
	     "ruleset_load\nuplink_find\nruleset_hosts\n" VETH("0") OPENED
	     "dns_gate_open " LINK_GATE_V4 ">" LINK_AGENT_V4
	     " - ipv6=0 doors=0 port=0 broker=40\n"
	     "resolved_addr host 192.5\nmachine_open 1 7001 /ports\n"
	     "l7_wait\ncaps_drop 1\nsend 4 0\n"
	     "planfile_read /etc/ssl/certs ca-certificates.crt\n"
	     "line of roots\noutlog_drain 2000\n"
	     "line \"roots\",\"pem\":\"r\"\noutlog_drain 2000\n"
	     "planfile_free 3585\nca_pem\n"
	     "line \"ready\",\"ipv6\":false,\"ms\":1000,\"ca\":\"the CA\","
	     "\"netns\":8,\"pidns\":9\noutlog_drain 100\n" LAST
	     "link_gate_down\n" LOGS DONE);
	each_fails(run_worker, "poll ", NO_BEGIN);
}

/* A link that others make; no HAProxy has IPv6's packets then. */
static void by_bridge(void)
{
	new_scene(UPLINK_THERE);
	scene.args.vectors.link = PLANFILE_BRIDGE;
	scene.ipv6 = true;
	says("prctl 1 9\nuplink_leave 0 0\ngeneration_load 1\n" HEARD
	     "l7_init\nl7_start own=0 ipv6=0 - broker=0\n"
	     "ruleset_load\nuplink_find\nruleset_hosts\nruleset_verify\n"
	     "link_bridge_up 1\n" OPENED "dns_gate_open " LINK_GATE_V4
	     ">" LINK_AGENT_V4 " " LINK_GATE_V6 ">" LINK_AGENT_V6
	     " ipv6=1 doors=0 port=0 broker=0\n"
	     "resolved_addr host 192.5\nmachine_open 0 0 /ports\n"
	     "caps_drop 1\nsend 4 1\n"
	     "line \"ready\",\"ipv6\":true,\"ms\":1000\noutlog_drain 100\n" LAST
	     "link_gate_down\n" LOGS "flows_read\nflows_rest\n" DONE);
	each_fails(run_worker, "poll ", NO_BEGIN);
}

static void in_a_pod(void)
{
	new_scene(UPLINK_POD);
	scene.args.vectors.link = PLANFILE_WIRE;
	scene.args.vectors.published = (struct planfile_ports){{80, 8080}, 2};
	scene.args.secrets = "/secrets";
	scene.args.roots = "/roots";
	scene.asks = scene.wanted = scene.decrypts = true;
	scene.told[2].m.word = WORKER_OPEN;
	scene.told[2].n = sizeof(struct worker_msg);
	says("prctl 1 9\nuplink_leave 3 0\ngeneration_load 1\nhello_pod\n"
	     "standins_new\nasking_open /run/gate/ask.sock\n"
	     "l7_init\nl7_start own=0 ipv6=0 - broker=0\nl7_begin\n"
	     "ruleset_load\nuplink_find\nruleset_hosts\n" VETH("0") OPENED
	     "dns_gate_open " LINK_GATE_V4 ">" LINK_AGENT_V4
	     " - ipv6=0 doors=0 port=0 broker=0\n"
	     "resolved_addr host 192.5\nmachine_open 0 0 /ports\n"
	     "l7_wait\nroots_share /roots\npodports_open 2 80\n"
	     "caps_drop 1\nsend 4 0\nforward_hand 2\n"
	     "wait 50 10000\nrecv 24\n"
	     "line \"ready\",\"session\":\"of-a-pod\",\"ipv6\":false,"
	     "\"ms\":1000,\"netns\":8,\"pidns\":9\noutlog_drain 100\n" LAST
	     "link_gate_down\n" LOGS "flows_read\nflows_rest\n" DONE);
	CHECK(same_lines(played->aside, "trim 0\nclose 60\nclose 61\n"));
	each_fails(run_worker, "poll ", NO_BEGIN);
	/* without any of that */
	scene.args.vectors.published.n = 0;
	scene.args.roots = NULL;
	scene.asks = false;
	CHECK(play_act(run_worker, 0, NULL));
	CHECK(strstr(played->said, "\nl7_wait\npodports_open 0 0\n"
				   "caps_drop 1\nsend 4 0\nwait 50 10000\n"));
	CHECK(!strstr(played->said, "asking_open"));
	CHECK(same_lines(played->aside, "trim 0\n"));
}

/* In another Pod than the agent: nothing is filtered, linked or shared. */
static void apart(void)
{
	new_scene(UPLINK_APART);
	scene.args.vectors.link = PLANFILE_APART;
	scene.args.vectors.n_door = 1;
	scene.args.roots = "/roots";
	scene.wanted = scene.ipv6 = true;
	scene.told[0].m.word = WORKER_OPEN;
	says("prctl 1 9\nuplink_leave 4 0\ngeneration_load 0\nhello_pod\n"
	     "uplink_find\napart_hosts\nl7_init\n"
	     "l7_start own=1 ipv6=1 ipv6 broker=0\nl7_begin\n"
	     "resolved_init\nasking_found found.test\n"
	     "dns_gate_open 0.0.0.0> ::> ipv6=1 doors=1 port=15053 broker=0\n"
	     "l7_wait\ncaps_drop 0\nsend 4 1\nwait 50 10000\nrecv 24\n"
	     "line \"ready\",\"session\":\"of-a-pod\",\"ipv6\":true,"
	     "\"ms\":1000\noutlog_drain 100\n" LAST DONE);
	each_fails(run_worker, "poll ", NO_BEGIN);
	scene.ipv6 = false;
	CHECK(play_act(run_worker, 0, NULL));
	CHECK(strstr(played->said, "l7_start own=1 ipv6=0 ipv4 broker=0\n") &&
	      strstr(played->said, "dns_gate_open 0.0.0.0> - ipv6=0 doors=1"));
}

/* Where it waits in vain, and what is none of a whole line. */
static void launchers(void)
{
#define BEGUN "prctl 1 9\nuplink_leave 0 0\ngeneration_load 1\nwait 0 30000\n"
	static const struct {
		int rc, error, late_ms, rc2;
		const char *pieces[4], *want;
	} lines[] = {
		{0, 0, 0, 1, {"x\n"}, BEGUN NO_BEGIN},
		{-1, EINTR, 100, 0, {"x\n"}, BEGUN "wait 0 29900\n" NO_BEGIN},
		{-1, EINTR, 29999, 0, {"x\n"}, BEGUN "wait 0 1\n" NO_BEGIN},
		{-1, EINTR, 30000, 1, {"x\n"}, BEGUN NO_BEGIN},
		{-1, EIO, 0, 1, {"x\n"}, BEGUN NO_BEGIN},
		{1, 0, 0, 1, {NULL}, BEGUN "read 0 65536\n" NO_BEGIN},
		{1,
		 0,
		 10,
		 1,
		 {"abc", NULL},
		 BEGUN "read 0 65536\nwait 0 29990\nread 0 65533\n" NO_BEGIN},
		{1,
		 0,
		 10,
		 1,
		 {"a\nb", "EINTR", "\n"},
		 BEGUN "read 0 65536\nwait 0 29990\nread 0 65533\n"
		       "wait 0 29990\nread 0 65533\nhello_parse a\nb\n"},
	};

	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		new_scene(UPLINK_THERE);
		scene.waits[0].rc = lines[i].rc;
		scene.waits[0].error = lines[i].error;
		scene.waits[0].late_ms = lines[i].late_ms;
		scene.waits[1].rc = lines[i].rc2;
		scene.waits[1].error = EINTR; /* of the earlier one */
		memcpy(scene.pieces, lines[i].pieces, sizeof(scene.pieces));
		CHECK(play_act(run_worker, 0, NULL));
		played->said[strlen(lines[i].want)] = '\0';
		CHECK_MSG(same_lines(played->said, lines[i].want), "line %zu",
			  i);
		CHECK(!strstr(lines[i].want, "read") ==
		      (strstr(played->aside, i == 4 ? "poll: " : "timed out") !=
		       NULL));
	}
}

/* Another word than the one it waits for, and part of one. */
static void words(void)
{
	for (unsigned i = 0; i < 2; i++)
		for (unsigned how = 0; how < 2; how++) {
			new_scene(UPLINK_THERE);
			if (how)
				scene.told[i].m.word = WORKER_OPEN;
			else
				scene.told[i].n--;
			CHECK(play_act(run_worker, 0, NULL));
			CHECK(strstr(played->said,
				     i ? "ruleset_verify\nwait 50 10000\n"
					 "recv 24\n" NO_BEGIN
				       : "ruleset_hosts\nwait 50 10000\n"
					 "recv 24\n" NO_BEGIN));
		}
}

/* --- its loop ------------------------------------------------------------- */

#define TURN	  "poll 1000: " FDS "\n"
#define TURNED	  "report_idle\nasking_step\ndns_gate_step\nreport_folded\n"
#define STEPPED	  "l7_step\nchange_step\n"
#define FAILS(e)  "line \"error\",\"message\":\"" e "\"\n"
#define PACKETS	  "link_gate_down\n" LOGS "flows_read\nflows_rest\n"
#define ENDS	  LAST PACKETS DONE
#define BREAKS(e) FAILS(e) PACKETS "l7_end\nuplink_return\n" ENDED "= 1\n"

static void loops(const char *want)
{
	const char *at;

	CHECK(play_act(run_worker, 0, NULL));
	at = strstr(played->said, "poll ");
	CHECK(at && same_lines(at, want));
}

/* One turn before the last, in which this is ready. */
static void new_turn(int ready)
{
	new_scene(UPLINK_THERE);
	scene.turns[0].ready[0] = ready;
}

static void turns(void)
{
	new_turn(0);
	loops(TURN STEPPED TURNED ENDS);
	new_turn(PERMITTED);
	loops(TURN LOGS STEPPED TURNED ENDS);
	new_turn(REFUSED);
	scene.turns[0].lost = 3;
	loops(TURN
	      "nflog_read 51\noutlog_lost 3\nnflog_read 52\noutlog_lost 3\n" STEPPED
		      TURNED ENDS);
	new_turn(FLOWS);
	loops(TURN "flows_read\n" STEPPED TURNED ENDS);
	/* what goes out does so when it is due, and can */
	new_turn(STDOUT_FILENO);
	scene.turns[0].out = 0;
	loops("poll 1000: 50 51 52 53 1o 55 56 57\n" STEPPED
	      "report_idle\nasking_step\ndns_gate_step\noutlog_write\n"
	      "report_folded\n" ENDS);
	new_turn(0);
	scene.turns[0].out = 0;
	loops("poll 1000: 50 51 52 53 1o 55 56 57\n" STEPPED TURNED ENDS);
	new_turn(0);
	scene.turns[0].error = EINTR;
	loops(TURN STEPPED TURNED ENDS);
	new_turn(0);
	scene.turns[0].error = EIO;
	loops(TURN BREAKS("poll: Input/output error"));
	new_turn(WAY);
	scene.proxied = true;
	loops("poll 1000: 50 51 52 53 54 55 56 57\n" BREAKS(
		"the way to the proxy ended"));
}

/* In the turn, what fails ends the session. */
static void breaks(void)
{
	static const struct {
		int ready;
		const char *fails, *want;
	} cases[] = {
		{PERMITTED, "nflog_read",
		 TURN
		 "nflog_read 51\n" FAILS("nflog_read fails") "link_gate_down\nnflog_read 51\n" FAILS(
			 "nflog_read fails") "l7_end\nuplink_return\n" ENDED
					     "= 1\n"},
		{FLOWS, "flows_read",
		 TURN "flows_read\n" FAILS(
			 "flows_read fails") "link_gate_down\n" LOGS
					     "flows_read\n" FAILS(
						     "flows_read fails") "l7_end\nuplink_return\n" ENDED
									 "= 1\n"},
		{0, "l7_step", TURN "l7_step\n" BREAKS("l7_step fails")},
		{SUPERVISOR, "link_gate_down",
		 LAST "link_gate_down\n" FAILS("link_gate_down fails") DONE},
		{SUPERVISOR, "flows_rest",
		 LAST PACKETS FAILS("flows_rest fails") DONE},
		{SUPERVISOR, "uplink_return",
		 LAST PACKETS "l7_end\nuplink_return\n" FAILS(
			 "uplink_return fails") ENDED "= 0\n"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *at;

		new_turn(cases[i].ready);
		CHECK(play_act(run_worker, 0, cases[i].fails));
		at = strstr(played->said, "poll ");
		CHECK_MSG(at && same_lines(at, cases[i].want), "%s",
			  cases[i].fails);
	}
}

static void waits(void)
{
	static const struct {
		int dns, l7, asking, out, change, want;
	} cases[] = {
		{5, 9, -1, -1, -1, 5}, {9, 5, -1, -1, -1, 5},
		{9, 8, 7, -1, -1, 7},  {9, 8, 8, -1, -1, 8},
		{7, 8, 9, 9, 9, 7},    {9, 8, 0, -1, -1, 0},
		{9, 8, -1, 7, -1, 7},  {9, 8, -1, 1, -1, 1},
		{9, 8, -1, 0, -1, 8},  {9, 8, -1, -1, 2, 2},
		{9, 8, -1, -1, 0, 0},  {9, 8, 3, 4, 5, 3},
		{9, 8, 5, 4, 3, 3},    {0, 8, 5, 4, 3, 0},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char want[16];

		new_scene(UPLINK_THERE);
		scene.turns[0].dns = cases[i].dns;
		scene.turns[0].l7 = cases[i].l7;
		scene.turns[0].asking = cases[i].asking;
		scene.turns[0].out = cases[i].out;
		scene.turns[0].change = cases[i].change;
		snprintf(want, sizeof(want), "\npoll %d: ", cases[i].want);
		CHECK(play_act(run_worker, 0, NULL));
		CHECK_MSG(strstr(played->said, want), "wait %zu", i);
	}
}

/* --- what it is told ------------------------------------------------------ */

#define HEARS	      "poll 1000: " FDS "\nrecv 49176\n"
#define CHANGED(more) "line \"generation\",\"generation\":5,\"ok\":" more "\n"

static void new_told(struct worker_msg m, const char *more)
{
	new_scene(UPLINK_THERE);
	scene.told[2].m = m;
	scene.told[2].n = sizeof(m);
	scene.told[2].more = more;
}

static void told(void)
{
	static const struct worker_msg answer = {.word = WORKER_ANSWER,
						 .question = 7,
						 .end = ASKING_YES},
				       listens = {.word = WORKER_LISTENS,
						  .listens = 1},
				       renewed = {.word = WORKER_RENEWED};

	new_told(answer, NULL);
	loops(HEARS "asking_answer 7 1\n" STEPPED TURNED ENDS);
	new_told(listens, NULL);
	loops(HEARS "asking_listens 1\n" STEPPED TURNED ENDS);
	new_told(listens, "more");
	loops(HEARS PACKETS DONE);
	new_told(renewed, "1 {}");
	loops(HEARS "l7_renewed 1 {}\n" STEPPED TURNED ENDS);
	CHECK(strstr(played->aside, "wipe 4\n"));
	new_told(renewed, NULL);
	loops(HEARS "l7_renewed \n" STEPPED TURNED ENDS);
	new_told(renewed, "1 {}");
	CHECK(play_act(run_worker, 0, "l7_renewed"));
	CHECK(strstr(played->said, HEARS "l7_renewed 1 {}\n" FAILS(
					   "l7_renewed fails") PACKETS DONE));
	new_told((struct worker_msg){.word = WORKER_READY}, NULL);
	loops(HEARS PACKETS DONE);
	new_told(listens, NULL);
	scene.told[2].n--;
	loops(HEARS PACKETS DONE);
}

static void changes(void)
{
	static const struct worker_msg change = {
		.word = WORKER_CHANGE, .generation = 5, .cut = 1};

	new_told(change, NULL);
	scene.turns[0].step = 1;
	loops(HEARS "change_begin 5 1 5000\n" STEPPED CHANGED("true,\"ms\":30")
		      TURNED ENDS);
	scene.turns[0].step = -ECANCELED;
	loops(HEARS "change_begin 5 1 5000\n" STEPPED CHANGED(
		"false,\"ms\":30,\"message\":\"the change fails\"")
		      TURNED ENDS);
	scene.turns[0].step = -EPROTO;
	loops(HEARS
	      "change_begin 5 1 5000\n" STEPPED BREAKS("the change fails"));
	/* all that was logged is told before, and who waits is judged again */
	scene.turns[0].step = 0;
	scene.turns[0].settles = true;
	loops(HEARS "change_begin 5 1 5000\n" STEPPED "l7log_read\n" LOGS
		    "asking_changed\n" TURNED ENDS);
	/* of the next plan people are asked */
	new_told(change, NULL);
	scene.next_asks = true;
	loops(HEARS "change_begin 5 1 5000\nstandins_new\n"
		    "asking_open /run/gate/ask.sock\n" STEPPED TURNED ENDS);
	scene.asks = true; /* as by this one: once is enough */
	loops(HEARS
	      "change_begin 5 1 5000\nasking_open /run/gate/ask.sock\n" STEPPED
		      TURNED ENDS);
	scene.asks = false;
	CHECK(play_act(run_worker, 0, "asking_open"));
	CHECK(strstr(played->said,
		     "asking_open /run/gate/ask.sock\n"
		     "change_drop\n" CHANGED(
			     "false,\"ms\":0,\"message\":\"asking people: "
			     "asking_open fails\"") STEPPED TURNED ENDS));
	CHECK(play_act(run_worker, 0, "standins_new"));
	CHECK(strstr(played->said, "standins_new\nchange_drop\n"));
	CHECK(play_act(run_worker, 0, "change_begin"));
	CHECK(strstr(
		played->said,
		"change_begin 5 1 5000\n" CHANGED(
			"false,\"ms\":0,\"message\":\"change_begin fails\"")
			STEPPED TURNED ENDS));
}

/* --- a plan that is only tried -------------------------------------------- */

static void only_tried(void)
{
	new_scene(UPLINK_THERE);
	scene.tries = true;
	CHECK(play_act(run_check, 0, NULL));
	CHECK(same_lines(played->said,
			 "planfile_vectors\ngeneration_load 1\nruleset_check\n"
			 "haproxy_check_plan /plan\n= 0\n"));
	each_fails(run_check, "= 0", "complain 1 1\n= 1\n");
	scene.args.vectors.link = PLANFILE_APART;
	CHECK(play_act(run_check, 0, NULL));
	CHECK(same_lines(played->said, "planfile_vectors\ngeneration_load 0\n"
				       "haproxy_check_plan /plan\n= 0\n"));
	each_fails(run_check, "= 0", "complain 1 1\n= 1\n");
}

int main(void)
{
	play_begin();
	by_sockets();
	by_broker();
	by_bridge();
	in_a_pod();
	apart();
	launchers();
	words();
	turns();
	breaks();
	waits();
	told();
	changes();
	only_tried();
	return check_status();
}
