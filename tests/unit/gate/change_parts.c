/*
 * Another plan for a running session, with HAProxy, the kernel and the files
 * played by this test: in which order it takes effect, what stays open, and
 * that what fails leaves everything as it was.
 */
#include "runtime/gate/change.h"
#include "runtime/gate/l7/l7_next.h"
#include "runtime/gate/packet/conntrack.h"
#include "runtime/gate/packet/link.h"
#include "runtime/gate/packet/ruleset.h"
#include "tests/unit/gate/played.h"

#define BEGUN_MS 1000
#define HEAD	 "membrane-names 2\nupstream udp 203.0.113.1 53\n"
#define ONE	 HEAD "ports 1 tcp/443\nname good.test 1 - g-0000000001\n"
#define STEPS	 4u

/* What a test wants of one run. */
static struct {
	bool cut, wanted, next_wanted, ipv6, standins, again;
	const char *names; /* of the next plan */
	int replaced[2]; /* what becomes of the rules, one and then the other */
	int ready[STEPS]; /* whether HAProxy does */
	bool cutting[STEPS];
	int64_t steps_ms[STEPS + 1]; /* 0: no more */
	const char *full;	     /* no room for that address */
} wish;

static struct change c;
static struct l7 l7;
static struct dns_gate dns;
static struct nftset sets;
static struct generation now;
static struct names_hosts hosts;
static struct standins standins;
static const struct addr resolver;
static unsigned n_steps, n_replaced;

static struct str rules_of(const char *text)
{
	return (struct str){text, strlen(text)};
}

/* --- its parts ------------------------------------------------------------ */

PART(int, generation_load,
     (const char *plan, bool filters, const struct addr *host,
      struct generation *out, struct l7_plan *p, struct err *err))
{
	WIRED(strcmp(plan, "/plan") == 0 && host == &resolver &&
	      out == &c.next && p == &c.next_l7);
	if (play(err, "generation_load %d", filters) < 0)
		return err->code;
	out->ruleset = rules_of("next");
	out->number = 1;
	p->wanted = wish.next_wanted;
	return names_parse(rules_of(wish.names), &out->names, err);
}

PART(void, generation_free, (struct generation * g))
{
	say("generation_free %u %.*s", g->number, STR_ARG(g->ruleset));
	names_free(&g->names);
	*g = (struct generation){0};
}

PART(void, l7_plan_free, (struct l7_plan * p))
{
	say("l7_plan_free %u", p->generation);
	*p = (struct l7_plan){0};
}

PART(int, conntrack_check, (struct err * err))
{
	return play(err, "conntrack_check");
}

PART(int, conntrack_forget, (struct err * err))
{
	return play(err, "conntrack_forget");
}

PART(int, link_tproxy_up, (struct err * err))
{
	return play(err, "link_tproxy_up");
}

PART(int, ruleset_check_next, (struct str text, struct err *err))
{
	return play(err, "ruleset_check_next %.*s", STR_ARG(text));
}

PART(int, l7_next_start,
     (struct l7 * l, const struct l7_plan *p, struct err *err))
{
	WIRED(l == &l7 && p == &c.next_l7);
	return play(err, "l7_next_start %u %d", p->generation, p->wanted);
}

PART(int, l7_next_ready,
     (struct l7 * l, const struct l7_plan *p, struct err *err))
{
	int rc = wish.ready[n_steps];

	WIRED(l == &l7 && p == &c.next_l7);
	if (play(err, "l7_next_ready") < 0)
		return err->code;
	return rc < 0 ? err_set(err, rc, "HAProxy ended") : rc;
}

PART(void, l7_next_drop, (struct l7 * l))
{
	WIRED(l == &l7);
	say("l7_next_drop");
}

PART(void, l7_next_take,
     (struct l7 * l, struct l7_plan *p, bool cut, int64_t now_ms))
{
	WIRED(l == &l7 && p == &c.next_l7);
	WIRED(!c.next.number && !c.next.ruleset.n && !c.next.names.text);
	say("l7_next_take %u cut=%d %d: plan %u %.*s", p->generation, cut,
	    (int)now_ms, now.number, STR_ARG(now.ruleset));
	*p = (struct l7_plan){0};
}

PART(bool, l7_next_cutting, (const struct l7 *l))
{
	WIRED(l == &l7);
	say("l7_next_cutting");
	return wish.cutting[n_steps];
}

PART(void, dns_gate_changed, (struct dns_gate * d))
{
	WIRED(d == &dns);
	say("dns_gate_changed");
}

void __real_nftset_next(struct nftset *s);
bool __real_nftset_note(struct nftset *s, const struct addr *addr,
			uint16_t class, int64_t until_ms);
void __real_arena_free(struct arena *a);

PART(void, nftset_next, (struct nftset * s))
{
	WIRED(s == &sets);
	say("nftset_next");
	__real_nftset_next(s);
}

PART(bool, nftset_note,
     (struct nftset * s, const struct addr *addr, uint16_t class,
      int64_t until_ms))
{
	char text[ADDR_TEXT_MAX];

	/* what has run out takes no room */
	WIRED(until_ms > BEGUN_MS + 1);
	addr_text(addr, text);
	if (wish.full && strcmp(wish.full, text) == 0) {
		say("no room for %u %s", class, text);
		return false;
	}
	return __real_nftset_note(s, addr, class, until_ms);
}

PART(void, nftset_take, (struct nftset * s))
{
	WIRED(s == &sets);
	say("nftset_take");
}

PART(void, ruleset_hosts_text,
     (struct str text, const struct names_hosts *h, struct buf *out))
{
	WIRED(h == &hosts);
	buf_addf(out, "add hosts of %.*s\n", STR_ARG(text));
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

PART(int, ruleset_replace,
     (struct str text, struct str elements, struct err *err))
{
	int rc = wish.replaced[n_replaced++];
	char room[4096], *lines[32], *save = NULL;
	size_t n = 0;

	say("ruleset_replace %.*s", STR_ARG(text));
	snprintf(room, sizeof(room), "%.*s", STR_ARG(elements));
	for (char *l = strtok_r(room, "\n", &save); l && n < 32;
	     l = strtok_r(NULL, "\n", &save))
		lines[n++] = l;
	qsort(lines, n, sizeof(*lines), by_text);
	for (size_t i = 0; i < n; i++)
		say(" %s", lines[i] + strlen("add "));
	*err = (struct err){-EBADF, "of something else"};
	return rc < 0 ? err_set(err, rc, "replaced %d", -rc) : 0;
}

PART(void, arena_free, (struct arena * a))
{
	say("arena_free");
	__real_arena_free(a);
}

/* --- runs ----------------------------------------------------------------- */

static int settle(void *data, struct err *err)
{
	WIRED(data == &wish);
	return play(err, "settle");
}

static void on_applied(void *data, int64_t now_ms)
{
	WIRED(data == &wish);
	say("on_applied %d", (int)now_ms);
}

static void say_state(const char *what, int rc, const struct err *err)
{
	say("%s %d state %d wait %d", what, rc, c.state, change_wait_ms(&c));
	if (rc < 0)
		say(" %d: %s", err->code, err->text);
}

/* As long as its steps are wished for. */
static int run_change(void)
{
	struct err err;

	c = (struct change){.plan = "/plan",
			    .resolver = &resolver,
			    .now = &now,
			    .l7 = &l7,
			    .dns = &dns,
			    .settle = settle,
			    .on_applied = on_applied,
			    .data = &wish};
	dns.sets = &sets;
	dns.hosts = &hosts;
	dns.ipv6 = wish.ipv6;
	dns.standins = wish.standins ? &standins : NULL;
	l7.plan.wanted = wish.wanted;
	now.number = 4;
	now.ruleset = rules_of("now");
	CHECK(names_parse(STR(ONE), &now.names, &err) == 0);
	say_state("begun", change_begin(&c, 5, wish.cut, BEGUN_MS, &err), &err);
	WIRED(c.state == CHANGE_NONE || c.begun_ms == BEGUN_MS);
	if (wish.again)
		say_state("again", change_begin(&c, 6, true, 1, &err), &err);
	for (; wish.steps_ms[n_steps]; n_steps++)
		say_state("step", change_step(&c, wish.steps_ms[n_steps], &err),
			  &err);
	return check_failed != 0;
}

static void says(const char *want)
{
	CHECK(play_act(run_change, 0, NULL));
	CHECK(same_lines(played->said, want));
}

static void says_without(const char *call, const char *want)
{
	CHECK(play_act(run_change, 0, call));
	CHECK_MSG(same_lines(played->said, want), "without %s", call);
}

static void new_wish(void)
{
	memset(&wish, 0, sizeof(wish));
	wish.names = ONE;
	wish.ready[0] = 1;
	wish.steps_ms[0] = BEGUN_MS + 1;
	l7.pins.n_ever = 0;
	memset(l7.pins.v, 0, 40 * sizeof(l7.pins.v[0]));
}

#define BEGUN                                                                  \
	"generation_load 1\nruleset_check_next next\nl7_next_start 5 0\n"      \
	"begun 0 state 1 wait 2\n"
#define REPLACED(rules) "ruleset_replace " rules "\n hosts of " rules "\n"
#define FILLED(rules)	"nftset_next\n" REPLACED(rules)
#define TAKEN                                                                  \
	"nftset_take\narena_free\ngeneration_free 4 now\ndns_gate_changed\n"   \
	"l7_next_take 5 cut=0 1001: plan 5 next\non_applied 1001\n"
#define FORGOTTEN "generation_free 5 next\nl7_plan_free 5\n"
#define DROPPED	  "l7_next_drop\n" FORGOTTEN

/* --- its beginning and its end -------------------------------------------- */

static void done(void)
{
	new_wish();
	says(BEGUN "l7_next_ready\nsettle\n" FILLED("next") TAKEN
	     "l7_next_cutting\nstep 1 state 0 wait -1\n= 0\n");
	/* there is none */
	wish.steps_ms[1] = BEGUN_MS + 2;
	says(BEGUN "l7_next_ready\nsettle\n" FILLED("next") TAKEN
	     "l7_next_cutting\nstep 1 state 0 wait -1\n"
	     "step 0 state 0 wait -1\n= 0\n");
	/* in its time */
	new_wish();
	wish.again = true;
	wish.ready[0] = wish.ready[1] = 0;
	wish.ready[2] = 1;
	wish.steps_ms[1] = BEGUN_MS + HAPROXY_WAIT_MS - 1;
	says("generation_load 1\nruleset_check_next next\nl7_next_start 5 0\n"
	     "begun 0 state 1 wait 2\nagain -16 state 1 wait 2\n"
	     " -16: another change is under way\n"
	     "l7_next_ready\nstep 0 state 1 wait 2\n"
	     "l7_next_ready\nstep 0 state 1 wait 2\n= 0\n");
	wish.again = false;
	wish.steps_ms[1]++;
	says(BEGUN
	     "l7_next_ready\nstep 0 state 1 wait 2\nl7_next_ready\n" DROPPED
	     "step -125 state 0 wait -1\n"
	     " -125: HAProxy does not begin\n= 0\n");
	new_wish();
	wish.steps_ms[0] = BEGUN_MS + HAPROXY_WAIT_MS;
	CHECK(play_act(run_change, 0, NULL));
	CHECK(strstr(played->said, "step 1 state 0 wait -1\n= 0\n"));
}

/* What was permitted is ended: HAProxy's first. */
static void cuts(void)
{
#define CUT                                                                         \
	"generation_load 1\nconntrack_check\nlink_tproxy_up\n"                      \
	"ruleset_check_next next\nl7_next_start 5 1\nbegun 0 state 1 wait 2\n"      \
	"l7_next_ready\nsettle\n" FILLED(                                           \
		"next") "nftset_take\narena_free\n"                                 \
			"generation_free 4 now\ndns_gate_changed\n"                 \
			"l7_next_take 5 cut=1 1001: plan 5 next\non_applied 1001\n" \
			"l7_next_cutting\nstep 0 state 2 wait 2\n"                  \
			"l7_next_cutting\nconntrack_forget\n"

	new_wish();
	wish.cut = wish.next_wanted = wish.ipv6 = wish.cutting[0] = true;
	wish.steps_ms[1] = BEGUN_MS + 9;
	says(CUT "step 1 state 0 wait -1\n= 0\n");
	says_without("conntrack_forget",
		     CUT "step -5 state 2 wait 2\n"
			 " -5: conntrack_forget fails\n= 0\n");
}

/* IPv6 has its way to HAProxy where there was none, and there is one now. */
static void ways(void)
{
	for (unsigned i = 0; i < 8; i++) {
		new_wish();
		wish.steps_ms[0] = 0;
		wish.wanted = i & 1;
		wish.next_wanted = i & 2;
		wish.ipv6 = i & 4;
		CHECK(play_act(run_change, 0, NULL));
		CHECK_MSG((strstr(played->said, "link_tproxy_up\n") != NULL) ==
				  (i == 6),
			  "way %u", i);
		CHECK(!strstr(played->said, "conntrack_check"));
	}
}

static void does_not_begin(void)
{
	static const struct {
		const char *call, *want;
	} cases[] = {
		{"generation_load", "generation_load 1\n"},
		{"conntrack_check",
		 "generation_load 1\nconntrack_check\n" FORGOTTEN},
		{"link_tproxy_up",
		 "generation_load 1\nconntrack_check\nlink_tproxy_up\n" FORGOTTEN},
		{"ruleset_check_next",
		 "generation_load 1\nconntrack_check\nlink_tproxy_up\n"
		 "ruleset_check_next next\n" FORGOTTEN},
		{"l7_next_start",
		 "generation_load 1\nconntrack_check\nlink_tproxy_up\n"
		 "ruleset_check_next next\nl7_next_start 5 1\n" FORGOTTEN},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char want[1000];

		new_wish();
		wish.cut = wish.next_wanted = wish.ipv6 = true;
		snprintf(want, sizeof(want),
			 "%sbegun -5 state 0 wait -1\n -5: %s%s fails\n"
			 "step 0 state 0 wait -1\n= 0\n",
			 cases[i].want,
			 strcmp(cases[i].call, "ruleset_check_next") == 0
				 ? PLAN_RULESET ": "
				 : "",
			 cases[i].call);
		says_without(cases[i].call, want);
	}
}

static void canceled(void)
{
#define CANCELED(why) DROPPED "step -125 state 0 wait -1\n -125: " why "\n= 0\n"

	new_wish();
	wish.ready[0] = -EPIPE;
	says(BEGUN "l7_next_ready\n" CANCELED("HAProxy ended"));
	/* refused: the rules are those that were there */
	new_wish();
	wish.replaced[0] = -EINVAL;
	says(BEGUN "l7_next_ready\nsettle\n" FILLED(
		"next") "arena_free\n" CANCELED("ruleset.nft: replaced 22"));
	/* whatever it was, they are there again */
	wish.replaced[0] = -EPROTO;
	says(BEGUN "l7_next_ready\nsettle\n" FILLED("next") "arena_free\n" FILLED(
		"now") "nftset_take\narena_free\n" CANCELED("ruleset.nft: replaced 71"));
}

/* Neither plan is enforced: nothing is taken back, the session ends. */
static void lost(void)
{
#define LOST(code)                                                             \
	BEGUN "l7_next_ready\nsettle\n" FILLED("next") "arena_free\n" FILLED(  \
		"now") "arena_free\nstep " code " state 1 wait 2\n"            \
		       " -5: after 'ruleset.nft: replaced "
#define AFTER "': the rules before: ruleset.nft: replaced 5\n= 0\n"

	new_wish();
	says_without("settle", BEGUN "l7_next_ready\nsettle\n"
				     "step -5 state 1 wait 2\n"
				     " -5: settle fails\n= 0\n");
	wish.replaced[0] = -ENOBUFS;
	wish.replaced[1] = -EIO;
	says(LOST("-105") "105" AFTER);
	wish.replaced[0] = -ECANCELED;
	says(LOST("-71") "125" AFTER);
}

/* --- what stays open ------------------------------------------------------ */

static struct pin *add_pin(const char *name, const char *addr, int64_t left_ms)
{
	struct pin *p = &l7.pins.v[l7.pins.n_ever++];

	*p = (struct pin){.until_ms = BEGUN_MS + 1 + PINS_GRACE_MS + left_ms};
	snprintf(p->name, sizeof(p->name), "%s", name);
	CHECK(addr_parse(rules_of(addr), &p->addr));
	return p;
}

static void stays(const char *elements)
{
	char want[2000];

	snprintf(want, sizeof(want),
		 BEGUN "l7_next_ready\nsettle\nnftset_next\n"
		       "ruleset_replace next\n%s hosts of next\n" TAKEN
		       "l7_next_cutting\nstep 1 state 0 wait -1\n= 0\n",
		 elements);
	says(want);
}

#define ELEMENT(set, addr, ms)                                                 \
	" element inet membrane " set " { " addr " timeout " ms "ms }\n"

static void pins(void)
{
	new_wish();
	wish.names = HEAD "ports 1 tcp/443\nports 2 tcp/22\nports d1 tcp/80\n"
			  "ports a1 tcp/99\n"
			  "name bad.test 1 - g-0000000004\n"
			  "name good.test 1 - g-0000000001\n"
			  "name two.test 1,2 - g-0000000002\n"
			  "name *.test - - g-0000000003\n"
			  "ask asked.example a1 60 - - a-0000000001\n"
			  "deny bad.test d-0000000001\n"
			  "guard **.example d1 d-0000000002\n";
	add_pin("good.test", "11.0.0.1", 500);
	add_pin("good.test", "11.0.0.2", 1);
	add_pin("good.test", "11.0.0.3", 0);
	add_pin("two.test", "2a0e::1", 700);
	add_pin("good.test", "10.0.0.1", 500); /* nobody granted that */
	add_pin("bad.test", "11.0.0.5", 500);
	add_pin("other.example", "11.0.0.6", 500);
	add_pin("asked.example", "11.0.0.7", 500);
	/* one that was never in use */
	add_pin("good.test", "11.0.0.9", 500);
	l7.pins.n_ever--;
	stays(ELEMENT("ask4_1", "11.0.0.7", "500") ELEMENT("guard4_1",
							   "11.0.0.7", "500")
		      ELEMENT("host4_1", "11.0.0.1",
			      "500") ELEMENT("host4_1", "11.0.0.2", "1")
			      ELEMENT("host6_1", "2a0e::1", "700")
				      ELEMENT("host6_2", "2a0e::1", "700"));
}

/* What is free has no name, whatever is granted. */
static void freed(void)
{
	new_wish();
	wish.names = HEAD "ports 1 tcp/443\nname ** 1 - g-0000000001\n";
	add_pin("", "11.0.0.8", 500);
	add_pin("any.test", "11.0.0.9", 500);
	stays(ELEMENT("host4_1", "11.0.0.9", "500"));
}

/* No more of a name for which there is no room. */
static void no_room(void)
{
	new_wish();
	wish.names = HEAD "ports 1 tcp/443\nports 2 tcp/22\n"
			  "name two.test 1,2 - g-0000000002\n";
	wish.full = "11.0.0.1";
	add_pin("two.test", "11.0.0.1", 500);
	CHECK(play_act(run_change, 0, NULL));
	CHECK(strstr(played->said, "nftset_next\nno room for 1 11.0.0.1\n"
				   "ruleset_replace next\n"));
}

static void stand_in(const char *name, char text[ADDR_TEXT_MAX])
{
	struct addr addr;

	CHECK(standins_take(&standins, rules_of(name), 1, &addr));
	addr_text(&addr, text);
}

/* What stands in for a name leads to a question, or to the proxy. */
static void stand_ins(void)
{
	char asked[ADDR_TEXT_MAX], proxied[ADDR_TEXT_MAX], past[ADDR_TEXT_MAX];
	char want[500];

	stand_in("good.test", asked);
	stand_in("by.test", proxied);
	stand_in("past.test", past);
	new_wish();
	wish.standins = true;
	wish.names = HEAD "ports 1 tcp/443\nports a1 tcp/80\n"
			  "name good.test 1 - g-0000000001\n"
			  "name by.test 1 - g-0000000002\n"
			  "ask good.test a1 60 - - a-0000000001\n";
	add_pin("good.test", asked, 500);
	add_pin("good.test", "11.0.0.1", 500);
	add_pin("by.test", proxied, 500); /* which leads nowhere */
	snprintf(want, sizeof(want),
		 ELEMENT("ask4_1", "11.0.0.1", "500")
			 ELEMENT("ask4_1", "%s", "500")
				 ELEMENT("host4_1", "11.0.0.1", "500"),
		 asked);
	stays(want);
	new_wish();
	wish.standins = true;
	wish.names = "membrane-names 2\nupstream proxy host\npast past.test\n"
		     "ports 1 tcp/443\nname by.test 1 - g-0000000002\n"
		     "name past.test 1 - g-0000000003\n";
	add_pin("by.test", proxied, 500);
	add_pin("past.test", past, 500);
	add_pin("past.test", "11.0.0.2", 500);
	/* its time is over, and HAProxy's way to it is not, or is as well */
	add_pin("past.test", "11.0.0.3", 0);
	add_pin("past.test", "11.0.0.4", -PINS_GRACE_MS);
	snprintf(want, sizeof(want),
		 ELEMENT("host4_1", "11.0.0.2", "500") ELEMENT("host4_1", "%s",
							       "500")
			 ELEMENT("past4_1", "11.0.0.2", "360500")
				 ELEMENT("past4_1", "11.0.0.3", "360000"),
		 proxied);
	stays(want);
}

int main(void)
{
	play_begin();
	done();
	cuts();
	ways();
	does_not_begin();
	canceled();
	lost();
	pins();
	freed();
	no_room();
	stand_ins();
	return check_status();
}
