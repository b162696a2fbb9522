/*
 * What a worker begins with, with libraries and readers played by this test:
 * the files of a plan, the addresses of a Pod, the lock that says that it is
 * ready, and the privileges that it keeps.
 */
#include "runtime/gate/apart.h"
#include "runtime/gate/generation.h"
#include "runtime/gate/parts.h"
#include "runtime/gate/plan/planfile.h"
#include "runtime/gate/ready.h"
#include "tests/unit/gate/played.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/stat.h>

/* What a test wants of one run. */
static struct {
	bool filters, asks_host, resolver; /* of a plan */
	enum caps_keep keep;
	int code;     /* of a call that fails; 0: EIO */
	bool none;    /* nobody holds a lock, and descriptor 0 is free */
	bool bounded; /* there is nothing to take from the bounding set */
} wish;

static struct err err;

static int codes(int rc)
{
	if (rc < 0 && wish.code)
		errno = wish.code;
	return rc;
}

/* --- the files of a plan -------------------------------------------------- */

PART(int, planfile_read,
     (const char *dir, const char *name, struct str *out, struct err *e))
{
	int rc = play(e, "read %s/%s", dir, name);

	if (rc == 0)
		*out = (struct str){name, strlen(name)};
	return rc;
}

PART(void, planfile_free, (struct str text))
{
	say("free '%.*s'", STR_ARG(text));
}

PART(int, names_parse, (struct str text, struct names_map *out, struct err *e))
{
	out->upstream_host = wish.asks_host;
	return play(e, "names %.*s", STR_ARG(text));
}

PART(void, names_free, (struct names_map * map))
{
	(void)map;
	say("free names");
}

PART(int, provenance_parse,
     (struct str text, struct provenance *out, struct err *e))
{
	(void)out;
	return play(e, "provenance %.*s", STR_ARG(text));
}

PART(void, provenance_free, (struct provenance * p))
{
	(void)p;
	say("free provenance");
}

PART(int, l7_load, (struct l7_plan * out, const char *plan, struct err *e))
{
	(void)out;
	return play(e, "l7_load %s", plan);
}

static int load(void)
{
	struct addr host = {ADDR_V4, {11, 0, 0, 53}};
	struct generation g = {0};
	struct l7_plan l7 = {0};
	int rc = generation_load("/plan", wish.filters,
				 wish.resolver ? &host : NULL, &g, &l7, &err);

	say("%s", rc < 0 ? err.text : "");
	WIRED(g.number == (rc == 0));
	WIRED(rc < 0 || g.ruleset.n == (wish.filters ? 11 : 0));
	WIRED(rc < 0 || !wish.asks_host ||
	      (addr_eq(&g.names.upstream_addr, &host) &&
	       g.names.upstream_port == 53));
	WIRED(rc == 0 || (!g.ruleset.n && !g.names.upstream_host));
	WIRED(wish.asks_host || g.names.upstream_port == 0);
	return rc;
}

static void loads(const char *fails, const char *want)
{
	CHECK(play_act(load, 0, fails));
	CHECK_MSG(same_lines(played->said, want), "without %s",
		  fails ? fails : "nothing");
}

#define RULES	   "read /plan/ruleset.nft\n"
#define NAMES	   "read /plan/names.map\nnames names.map\nfree 'names.map'\n"
#define PROVENANCE "read /plan/provenance.json\nprovenance provenance.json\n"
#define FREED	   "free 'ruleset.nft'\nfree names\nfree provenance\n"
#define LOADED	   NAMES PROVENANCE "free 'provenance.json'\nl7_load /plan\n\n= 0\n"

static void plans(void)
{
	memset(&wish, 0, sizeof(wish));
	wish.filters = true;
	loads(NULL, RULES LOADED);
	loads("read", RULES "free ''\nfree names\nfree provenance\n"
			    "read fails\n= -5\n");
	loads("names", RULES NAMES FREED "names.map: names fails\n= -5\n");
	loads("provenance", RULES NAMES PROVENANCE
	      "free 'provenance.json'\n" FREED
	      "provenance.json: provenance fails\n= -5\n");
	loads("l7_load", RULES NAMES PROVENANCE
	      "free 'provenance.json'\nl7_load /plan\n" FREED
	      "l7_load fails\n= -5\n");
	for (unsigned n = 2; n <= 4; n += 2) {
		CHECK(play_act(load, n, NULL));
		CHECK(strstr(played->said, FREED "read fails\n= -5\n"));
	}
	wish.asks_host = true;
	loads(NULL, RULES NAMES FREED
	      "the plan asks the host's resolver, and this session was started without\n"
	      "= -71\n");
	wish.filters = false;
	wish.resolver = true;
	loads(NULL, LOADED);
}

/* --- the addresses of a Pod ----------------------------------------------- */

static struct ifaddrs links[NAMES_HOSTS_MAX + 2];
static struct sockaddr_in ends[NAMES_HOSTS_MAX + 2];
static unsigned n_links;

PART(int, getifaddrs, (struct ifaddrs * *out))
{
	*out = links;
	for (unsigned i = 0; i < n_links; i++)
		links[i].ifa_next = i + 1 < n_links ? links + i + 1 : NULL;
	return PLAY_CALL("getifaddrs");
}

PART(void, freeifaddrs, (struct ifaddrs * all))
{
	WIRED(all == links);
	say("freeifaddrs");
}

static int find_hosts(void)
{
	struct planfile_vectors v = {
		.door = {{ADDR_V4, {10, 96, 0, 53}}, {ADDR_V4, {1, 1, 1, 1}}},
		.n_door = 1};
	struct names_hosts hosts = {0};
	int rc = apart_hosts(&v, &hosts, &err);

	say("%u %s", hosts.n, rc < 0 ? err.text : "");
	for (uint32_t i = 0; i < hosts.n; i++)
		say_aside("%d", hosts.v[i].b[3]);
	return rc;
}

/* So many addresses, and one that is none. */
static void have_links(unsigned n)
{
	memset(links, 0, sizeof(links));
	for (unsigned i = 0; i < n; i++) {
		ends[i].sin_family = i == 1 ? AF_UNIX : AF_INET;
		ends[i].sin_addr.s_addr = htonl(0x0b000000 + i);
		links[i].ifa_addr = (struct sockaddr *)&ends[i];
	}
	n_links = n;
}

static void apart(void)
{
	struct link_facts facts = {.n_defaults = 2,
				   .defaults = {{.v6 = true}, {.v6 = true}}};

	have_links(4);
	links[3].ifa_addr = NULL;
	CHECK(play_act(find_hosts, 0, NULL));
	CHECK(same_lines(played->said, "getifaddrs\nfreeifaddrs\n3 \n= 0\n"));
	CHECK(same_lines(played->aside, "0\n2\n53\n"));
	CHECK(play_act(find_hosts, 1, NULL));
	CHECK(same_lines(played->said, "getifaddrs\n0 addresses of the Pod: "
				       "Input/output error\n= -5\n"));
	/* as many as there is room for, and one more, here or there */
	have_links(NAMES_HOSTS_MAX);
	CHECK(play_act(find_hosts, 0, NULL));
	CHECK(strstr(played->said, "\n128 \n= 0\n"));
	for (unsigned more = 1; more <= 2; more++) {
		have_links(NAMES_HOSTS_MAX + more);
		CHECK(play_act(find_hosts, 0, NULL));
		CHECK(strstr(played->said,
			     "\n128 too many addresses of the Pod\n= -7\n"));
	}
	CHECK(strcmp(apart_family(&facts), "ipv6") == 0);
	facts.defaults[2].v6 = false;
	facts.n_defaults = 2;
	CHECK(strcmp(apart_family(&facts), "ipv6") == 0);
	facts.n_defaults = 3;
	CHECK(strcmp(apart_family(&facts), "ipv4") == 0);
}

/* --- the lock ------------------------------------------------------------- */

PART_OUTSIDE(int, open, (const char *path, int flags, int mode),
	     (path, flags, mode))
{
	(void)mode;
	if (PLAY_CALL("open %s %d%d", path, (flags & O_CLOEXEC) != 0,
		      (flags & O_NOFOLLOW) != 0) < 0)
		return codes(-1);
	return wish.none ? 0 : 70;
}

/* The last is an int, or an address. */
PART_OUTSIDE(int, fcntl, (int fd, int what, void *more), (fd, what, more))
{
	if (wish.none && what == F_GETLK)
		((struct flock *)more)->l_type = F_UNLCK;
	return codes(
		PLAY_CALL("fcntl %d %s", fd, what == F_SETLK ? "set" : "get"));
}

PART(void, fd_close, (int *fd))
{
	say("close %d", *fd);
}

static int hold(void)
{
	int rc = ready_hold(&err);

	say("%s", rc < 0 ? err.text : "");
	return rc;
}

static int is_held(void)
{
	return ready_held();
}

#define OPENED "open " GATE_READY " 11\n"

static void ready(void)
{
	memset(&wish, 0, sizeof(wish));
	CHECK(play_act(hold, 0, NULL));
	CHECK(same_lines(played->said, OPENED "fcntl 70 set\n\n= 0\n"));

	CHECK(play_act(hold, 1, NULL));
	CHECK(same_lines(played->said,
			 OPENED GATE_READY ": Input/output error\n= -5\n"));
	CHECK(play_act(hold, 2, NULL));
	CHECK(same_lines(played->said, OPENED "fcntl 70 set\n" GATE_READY
					      ": Input/output error\n= -5\n"));
	/* a kernel that changes nothing says that somebody has it */
	CHECK(play_act(is_held, 0, NULL));
	CHECK(same_lines(played->said, OPENED "fcntl 70 get\nclose 70\n= 1\n"));
	CHECK(play_act(is_held, 1, NULL));
	CHECK(same_lines(played->said, OPENED "close -1\n= 0\n"));
	CHECK(play_act(is_held, 2, NULL));
	CHECK(same_lines(played->said, OPENED "fcntl 70 get\nclose 70\n= 0\n"));
	wish.none = true;
	CHECK(play_act(hold, 0, NULL));
	CHECK(same_lines(played->said, OPENED "fcntl 0 set\n\n= 0\n"));
	CHECK(play_act(is_held, 0, NULL));
	CHECK(same_lines(played->said, OPENED "fcntl 0 get\nclose 0\n= 0\n"));
}

/* --- privileges ----------------------------------------------------------- */

static char set; /* whatever it is */

PART(cap_t, cap_init, (void))
{
	return PLAY_CALL("cap_init") < 0 ? NULL : (cap_t)(void *)&set;
}

PART(int, cap_free, (void *caps))
{
	WIRED(caps == &set);
	say("cap_free");
	return 0;
}

PART(cap_value_t, cap_max_bits, (void))
{
	return CAP_SYS_ADMIN + 1;
}

PART(int, cap_get_bound, (cap_value_t c))
{
	return c == CAP_SYS_CHROOT ? 0 : !wish.bounded;
}

PART(int, cap_drop_bound, (cap_value_t c))
{
	say_aside("%d", c);
	return codes(PLAY_CALL("drop"));
}

PART(int, cap_reset_ambient, (void))
{
	return codes(PLAY_CALL("ambient"));
}

PART(int, cap_set_flag,
     (cap_t caps, cap_flag_t flag, int n, const cap_value_t *v,
      cap_flag_value_t to))
{
	WIRED(caps == (cap_t)(void *)&set && to == CAP_SET && n == 4 &&
	      v[0] == CAP_NET_ADMIN && v[1] == CAP_KILL);
	return PLAY_CALL("flag %d", flag);
}

PART(int, cap_set_proc, (cap_t caps))
{
	WIRED(caps == (cap_t)(void *)&set);
	return PLAY_CALL("proc");
}

PART_OUTSIDE(int, prctl,
	     (int what, unsigned long a, unsigned long b, unsigned long c,
	      unsigned long d),
	     (what, a, b, c, d))
{
	(void)b, (void)c, (void)d;
	return PLAY_CALL("prctl %d %lu", what == PR_SET_NO_NEW_PRIVS, a);
}

static int drop(void)
{
	int rc = caps_drop(wish.keep, &err);

	WIRED(rc == 0 || strstr(err.text, rc == -ENOMEM ? "out of memory"
					  : wish.code	? "No space"
						      : "Input/output error"));
	return rc;
}

static void drops(unsigned fail, const char *fails, const char *want)
{
	CHECK(play_act(drop, fail, fails));
	CHECK_MSG(same_lines(played->said, want), "%u %s", fail,
		  fails ? fails : "nothing");
}

#define BEGINS "cap_init\nprctl 1 1\n"

static void privileges(void)
{
	char dropped[PLAYED_MAX] = BEGINS, all[PLAYED_MAX], bits[400] = "";

	memset(&wish, 0, sizeof(wish));
	wish.keep = CAPS_GATE;
	wish.bounded = true;
	drops(0, NULL, BEGINS "ambient\nflag 1\nflag 0\nproc\ncap_free\n= 0\n");
	wish.keep = CAPS_NONE;
	drops(0, NULL, BEGINS "ambient\nproc\ncap_free\n= 0\n");
	drops(1, NULL, "cap_init\n= -12\n");
	drops(2, NULL, BEGINS "cap_free\n= -5\n");
	drops(3, NULL, BEGINS "ambient\ncap_free\n= -5\n");
	drops(4, NULL, BEGINS "ambient\nproc\ncap_free\n= -5\n");
	/* an old kernel has no such set */
	wish.code = EINVAL;
	drops(0, "ambient", BEGINS "ambient\nproc\ncap_free\n= 0\n");
	wish.code = ENOSPC;
	drops(0, "ambient", BEGINS "ambient\ncap_free\n= -28\n");
	wish.code = 0;
	wish.keep = CAPS_GATE;
	drops(4, NULL, BEGINS "ambient\nflag 1\ncap_free\n= -5\n");
	drops(5, NULL, BEGINS "ambient\nflag 1\nflag 0\ncap_free\n= -5\n");
	/* of the bounding set what it does not keep, as far as it may */
	wish.bounded = false;
	for (int c = 0; c <= CAP_SYS_ADMIN; c++)
		if (c != CAP_NET_ADMIN && c != CAP_KILL && c != CAP_SETUID &&
		    c != CAP_SETGID && c != CAP_SYS_CHROOT) {
			strcat(dropped, "drop\n");
			snprintf(bits + strlen(bits), 8, "%d\n", c);
		}
	snprintf(all, sizeof(all),
		 "%sambient\nflag 1\nflag 0\nproc\ncap_free\n= 0\n", dropped);
	drops(0, NULL, all);
	CHECK(same_lines(played->aside, bits));
	wish.code = EPERM;
	drops(0, "drop", all);
	wish.code = ENOSPC;
	drops(0, "drop", BEGINS "drop\ncap_free\n= -28\n");
	wish.code = 0;
	wish.keep = CAPS_NONE;
	CHECK(play_act(drop, 0, NULL));
	CHECK(strstr(played->aside, "\n12\n") &&
	      strstr(played->aside, "\n5\n"));
	CHECK(strstr(played->said, "drop\nambient\nproc\ncap_free\n= 0\n"));
}

int main(void)
{
	play_begin();
	plans();
	apart();
	ready();
	privileges();
	return check_status();
}
