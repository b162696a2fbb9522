/*
 * The parts of a worker as worker_parts.c plays them: what each is called with
 * is kept, and what it answers is the scene's.
 */
#ifndef TESTS_UNIT_GATE_WORKER_PARTS_H
#define TESTS_UNIT_GATE_WORKER_PARTS_H

#include "runtime/gate/report.h"
#include "runtime/gate/l7/roots.h"
#include "runtime/gate/parts.h"
#include "tests/unit/gate/played.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>

/* Descriptors of nothing. */
enum {
	BROKER = 40,
	SUPERVISOR = 50,
	PERMITTED,
	REFUSED,
	FLOWS,
	WAY,
	L7,
	ASKING,
	DNS,
	PORT = 60
};

#define TURNS 8u

struct turn {
	int error;			  /* of poll */
	int ready[3];			  /* descriptors */
	int dns, l7, asking, out, change; /* how long they let it wait */
	int step;			  /* of a change */
	bool settles;			  /* which asks for what was logged */
	uint64_t lost;
};

/* What a test wants of one run. */
static struct scene {
	struct worker_args args;
	bool proxied, asks, added, wanted, decrypts, ipv6, trial, no_proxy;
	bool next_asks, counted;
	bool tries;	       /* without a session */
	const char *pieces[4]; /* of the launcher's line */
	struct {
		int rc, error, late_ms;
	} waits[4]; /* for one descriptor; rc 0 and no error: it is ready */
	struct {
		struct worker_msg m;
		size_t n;
		const char *more;
	} told[8];
	struct turn turns[TURNS];
} scene;

static struct gate *gate;
static unsigned n_turns, n_told, n_pieces, n_waits;
static int64_t time_ms;

static const struct turn *this_turn(void)
{
	return &scene.turns[n_turns < TURNS ? n_turns : TURNS - 1];
}

/* After its poll. */
static const struct turn *past_turn(void)
{
	return &scene.turns[n_turns ? n_turns - 1 : 0];
}

/* --- calls of the system -------------------------------------------------- */

PART(int64_t, clock_ms, (void))
{
	return time_ms;
}

static int poll_one(struct pollfd *p, int ms)
{
	unsigned i = n_waits < 4 ? n_waits++ : 3;

	WIRED(p->events == POLLIN);
	if (PLAY_CALL("wait %d %d", p->fd, ms) < 0)
		return -1;
	time_ms += scene.waits[i].late_ms;
	if (scene.waits[i].error)
		errno = scene.waits[i].error;
	return scene.waits[i].rc;
}

PART(int, poll, (struct pollfd * p, nfds_t n, int ms))
{
	const struct turn *t = this_turn();
	char fds[200] = "";
	int found = 0;

	if (n == 1)
		return poll_one(p, ms);
	for (nfds_t i = 0; i < n; i++) {
		size_t at = strlen(fds);

		p[i].revents = 0;
		for (unsigned k = 0; k < 3; k++)
			if (t->ready[k] && p[i].fd == t->ready[k])
				p[i].revents = POLLIN;
		found += p[i].revents != 0;
		if (p[i].fd >= 0)
			snprintf(fds + at, sizeof(fds) - at, " %d%s", p[i].fd,
				 p[i].events == POLLIN	  ? ""
				 : p[i].events == POLLOUT ? "o"
							  : "?");
	}
	say("poll %d:%s", ms, fds);
	if (++n_turns > TURNS)
		_exit(4);
	if (t->error) {
		for (nfds_t i = 0; i < n; i++)
			p[i].revents = 0;
		errno = t->error;
		return -1;
	}
	errno = 0;
	return found;
}

static ssize_t read_piece(int fd, void *to, size_t n)
{
	const char *piece = scene.pieces[n_pieces < 3 ? n_pieces++ : 3];

	if (PLAY_CALL("read %d %zu", fd, n) < 0)
		return -1;
	if (piece && strcmp(piece, "EINTR") == 0) {
		errno = EINTR;
		return -1;
	}
	errno = EINTR; /* of an earlier one */
	if (!piece)
		return 0;
	memcpy(to, piece, strlen(piece));
	return (ssize_t)strlen(piece);
}

PART_OUTSIDE(ssize_t, read, (int fd, void *to, size_t n), (fd, to, n))
{
	return read_piece(fd, to, n);
}

PART(ssize_t, __read_chk, (int fd, void *to, size_t n, size_t room))
{
	(void)room;
	return read_piece(fd, to, n);
}

PART(ssize_t, recv, (int fd, void *to, size_t n, int flags))
{
	unsigned i = n_told < 7 ? n_told++ : 7;
	size_t head = scene.told[i].n;

	WIRED(fd == SUPERVISOR && !flags);
	if (PLAY_CALL("recv %zu", n) < 0)
		return -1;
	memcpy(to, &scene.told[i].m, head);
	if (scene.told[i].more) {
		strcpy((char *)to + head, scene.told[i].more);
		head += strlen(scene.told[i].more);
	}
	return (ssize_t)head;
}

PART(ssize_t, send, (int fd, const void *from, size_t n, int flags))
{
	struct worker_msg m;

	WIRED(fd == SUPERVISOR && flags == MSG_NOSIGNAL && n == sizeof(m));
	memcpy(&m, from, sizeof(m));
	return PLAY_CALL("send %u %u", m.word, m.ipv6) < 0 ? -1 : (ssize_t)n;
}

PART_OUTSIDE(ssize_t, write, (int fd, const void *from, size_t n),
	     (fd, from, n))
{
	say_aside("%.*s", (int)n, (const char *)from);
	say("complain %d %d", fd,
	    memmem(from, n, "\"event\":\"error\"", 15) != NULL);
	return (ssize_t)n;
}

PART_OUTSIDE(int, close, (int fd), (fd))
{
	say_aside("close %d", fd);
	return 0;
}

/* The last is an int, or an address. */
PART_OUTSIDE(int, fcntl, (int fd, int what, void *more), (fd, what, more))
{
	(void)more;
	return PLAY_CALL("fcntl %d %d", fd, what);
}

PART_OUTSIDE(int, prctl,
	     (int what, unsigned long a, unsigned long b, unsigned long c,
	      unsigned long d),
	     (what, a, b, c, d))
{
	(void)b, (void)c, (void)d;
	say("prctl %d %lu", what == PR_SET_PDEATHSIG, a);
	return 0;
}

PART(void, explicit_bzero, (void *p, size_t n))
{
	memset(p, 0, n);
	say_aside("wipe %zu", n);
}

PART(void, __explicit_bzero_chk, (void *p, size_t n, size_t room))
{
	(void)room;
	memset(p, 0, n);
	say_aside("wipe %zu", n);
}

PART(int, malloc_trim, (size_t pad))
{
	say_aside("trim %zu", pad);
	return 0;
}

/* --- the plan, and whoever begins a session ------------------------------- */

PART(int, uplink_leave, (struct uplink * u, struct err *err))
{
	gate = (void *)((char *)u - offsetof(struct gate, uplink));
	WIRED(gate->out.fd == 1);
	return play(err, "uplink_leave %d %d", u->kind, u->broker);
}

PART(int, generation_load,
     (const char *plan, bool filters, const struct addr *host,
      struct generation *out, struct l7_plan *l7, struct err *err))
{
	WIRED(strcmp(plan, "/plan") == 0);
	/* nothing is asked of one that is only tried */
	WIRED(scene.tries ? host && host->family == ADDR_V4
			  : host == scene.args.resolver);
	out->number = 1;
	out->ruleset = STR("the rules");
	out->names.proxied = scene.proxied;
	out->names.n_ask = scene.asks;
	out->names.upstream_addr = (struct addr){ADDR_V4, {203, 0, 113, 1}};
	out->names.upstream_port = 5353;
	l7->wanted = scene.wanted;
	l7->decrypts = scene.decrypts;
	return play(err, "generation_load %d", filters);
}

static int take_hello(struct names_hosts *hosts, struct hello_credentials *out,
		      struct err *err, const char *what)
{
	WIRED(hosts == &gate->hosts && out == &gate->l7.credentials);
	hosts->proxy = (struct addr){ADDR_V4, {11, 0, 3, 128}};
	hosts->proxy_port = scene.no_proxy ? 0 : 3128;
	strcpy(out->login, "me:pass");
	out->trial = scene.trial;
	return play(err, "%s", what);
}

PART(int, hello_parse,
     (struct str line, struct names_hosts *hosts, struct hello_credentials *out,
      struct err *err))
{
	char what[100];

	snprintf(what, sizeof(what), "hello_parse %.*s", STR_ARG(line));
	return take_hello(hosts, out, err, what);
}

PART(int, hello_pod,
     (const char *secrets, struct names_hosts *hosts,
      struct hello_credentials *out, struct err *err))
{
	WIRED(secrets == scene.args.secrets);
	return take_hello(hosts, out, err, "hello_pod");
}

PART(const char *, hello_pod_session, (void))
{
	return "of-a-pod";
}

PART(int, uplink_find,
     (struct uplink * u, struct link_facts *out, struct names_hosts *hosts,
      bool *out_ipv6, struct err *err))
{
	WIRED(u == &gate->uplink && out == &gate->facts &&
	      hosts == &gate->hosts);
	out->n_ifs = 1;
	out->ifs[0] = (struct link_if){.index = 7, .mtu = 1400};
	out->n_defaults = 1;
	out->defaults[0] = (struct link_route){.index = 7, .v6 = scene.ipv6};
	*out_ipv6 = scene.ipv6;
	return play(err, "uplink_find");
}

PART(int, uplink_return, (struct uplink * u, struct err *err))
{
	WIRED(u == &gate->uplink);
	return play(err, "uplink_return");
}

/* --- parts that are opened ------------------------------------------------ */

PART(int, standins_new, (struct standins * *out, struct err *err))
{
	*out = (void *)scene.pieces; /* some address */
	return play(err, "standins_new");
}

PART(int, l7_failures, (struct err * err))
{
	return play(err, "l7_failures");
}

PART(int, onward_start,
     (const struct onward_proxy *proxy, struct standins *names,
      struct onward *out, struct err *err))
{
	WIRED(names == gate->standins && gate->dns.standins == names &&
	      out == &gate->way && proxy->past == &gate->now.names.past);
	WIRED(gate->hosts.resolver.b[0] == 203 &&
	      gate->hosts.resolver_port == 5353);
	out->pidfd = WAY;
	return play(err, "onward_start %d.%d:%d %s %d", proxy->addr.b[0],
		    proxy->addr.b[3], proxy->port, proxy->login, proxy->broker);
}

PART(int, asking_open, (struct asking * a, const char *path, struct err *err))
{
	WIRED(a == &gate->asking && a->names == &gate->now.names &&
	      a->dns == &gate->dns && a->l7 == &gate->l7 &&
	      a->on_question == report_question &&
	      a->on_answered == report_answered && a->data == gate);
	WIRED(gate->standins && gate->dns.standins == gate->standins);
	return play(err, "asking_open %s", path);
}

PART(void, l7_init, (struct l7 * l))
{
	say("l7_init");
	l->ports.open = true;
}

PART(bool, roots_added, (void))
{
	return scene.added;
}

PART(int, roots_write, (bool added, struct err *err))
{
	return play(err, "roots_write %d", added);
}

PART(int, l7_authority, (struct l7 * l, struct err *err))
{
	WIRED(l == &gate->l7);
	return play(err, "l7_authority");
}

PART(int, l7_start, (struct l7 * l, struct err *err))
{
	WIRED(l == &gate->l7 && l->ports.open && l->names == &gate->now.names &&
	      l->on_line == report_logline && l->on_lost == report_lost &&
	      l->on_error == report_error && l->on_renewal == report_renewal &&
	      l->data == gate);
	return play(err, "l7_start own=%d ipv6=%d %s broker=%d", l->ports.own,
		    l->ports.ipv6, l->ports.family ? l->ports.family : "-",
		    l->ports.broker);
}

PART(int, l7_begin, (struct l7 * l, struct err *err))
{
	WIRED(l == &gate->l7);
	return play(err, "l7_begin");
}

PART(int, l7_wait, (struct l7 * l, struct err *err))
{
	WIRED(l == &gate->l7);
	return play(err, "l7_wait");
}

static bool are_rules(struct str text)
{
	return str_is(text, "the rules");
}

PART(int, ruleset_load, (struct str text, struct err *err))
{
	WIRED(are_rules(text));
	return play(err, "ruleset_load");
}

PART(int, ruleset_verify, (struct str text, struct err *err))
{
	WIRED(are_rules(text));
	return play(err, "ruleset_verify");
}

PART(int, ruleset_check, (struct str text, struct err *err))
{
	WIRED(are_rules(text));
	return play(err, "ruleset_check");
}

PART(int, ruleset_hosts,
     (struct str text, const struct names_hosts *hosts, struct err *err))
{
	WIRED(are_rules(text) && hosts == &gate->hosts);
	return play(err, "ruleset_hosts");
}

PART(int, link_tproxy_up, (struct err * err))
{
	return play(err, "link_tproxy_up");
}

PART(int, link_bridge_up, (bool ipv6, struct err *err))
{
	return play(err, "link_bridge_up %d", ipv6);
}

PART(int, link_gate_up, (pid_t peer, uint32_t mtu, bool ipv6, struct err *err))
{
	WIRED(peer == getppid());
	return play(err, "link_gate_up %u %d", mtu, ipv6);
}

PART(int, link_gate_down, (struct err * err))
{
	return play(err, "link_gate_down");
}

PART(int, nftset_open, (struct nftset * s, struct err *err))
{
	WIRED(s == &gate->sets);
	return play(err, "nftset_open");
}

PART(int, nflog_open, (struct nflog * l, uint16_t group, struct err *err))
{
	WIRED(l ==
	      (group == GATE_LOG_GRANTED ? &gate->permitted : &gate->refused));
	return play(err, "nflog_open %u", group);
}

PART(int, nflog_fd, (const struct nflog *l))
{
	return l == &gate->permitted ? PERMITTED : REFUSED;
}

PART(int, nflog_read,
     (struct nflog * l, nflog_fn *fn, void *data, uint64_t *out_lost,
      struct err *err))
{
	WIRED(fn == report_packet && data == gate);
	*out_lost = past_turn()->lost;
	return play(err, "nflog_read %d",
		    l == &gate->permitted ? PERMITTED : REFUSED);
}

PART(int, flows_open, (struct flows * f, struct err *err))
{
	WIRED(f == &gate->flows);
	return play(err, "flows_open");
}

PART(int, flows_fd, (const struct flows *f))
{
	(void)f;
	return FLOWS;
}

PART(bool, flows_counted, (void))
{
	return scene.counted;
}

PART(int, flows_read,
     (struct flows * f, flows_fn *fn, void *data, struct err *err))
{
	WIRED(f == &gate->flows && fn == report_flow && data == gate);
	return play(err, "flows_read");
}

PART(int, flows_rest,
     (struct flows * f, flows_fn *fn, void *data, struct err *err))
{
	WIRED(f == &gate->flows && fn == report_rest && data == gate);
	return play(err, "flows_rest");
}

PART(void, resolved_init, (struct resolved * r))
{
	WIRED(r == &gate->seen);
	say("resolved_init");
}

PART(void, resolved_addr,
     (struct resolved * r, struct str name, const struct addr *addr))
{
	WIRED(r == &gate->seen);
	say("resolved_addr %.*s %d.%d", STR_ARG(name), addr->b[0], addr->b[3]);
}

PART(int, machine_open,
     (const uint16_t *ports, uint32_t n, const char *to, struct err *err))
{
	return play(err, "machine_open %u %u %s", n, n ? ports[0] : 0, to);
}

PART(void, asking_found,
     (struct asking * a, const char *name, bool private_ok,
      const struct addr *addr))
{
	WIRED(a == &gate->asking && private_ok && addr == &gate->hosts.proxy);
	say("asking_found %s", name);
}

static const char *end_text(const struct dns_gate_ends *e)
{
	static char text[2][100];
	static unsigned i;

	if (!e)
		return "-";
	i ^= 1;
	snprintf(text[i], sizeof(text[i]), "%s>%s", e->gate,
		 e->agent ? e->agent : "");
	return text[i];
}

PART(int, dns_gate_open,
     (struct dns_gate * d, const struct dns_gate_ends *v4,
      const struct dns_gate_ends *v6, struct err *err))
{
	bool apart = scene.args.uplink == UPLINK_APART;

	WIRED(d == &gate->dns && d->names == &gate->now.names &&
	      d->hosts == &gate->hosts && d->seen == &gate->seen &&
	      d->pins == &gate->l7.pins && d->data == gate);
	WIRED(d->on_record == report_record && d->on_answer == report_answer &&
	      d->on_error == report_error);
	WIRED(d->sets == (apart ? NULL : &gate->sets));
	WIRED(gate->counted == (!apart && scene.counted));
	WIRED(d->door == (apart ? scene.args.vectors.door : NULL));
	d->on_found(d->data, "found.test", true, &gate->hosts.proxy);
	return play(err,
		    "dns_gate_open %s %s ipv6=%d doors=%u port=%u broker=%d",
		    end_text(v4), end_text(v6), d->ipv6, d->n_door,
		    d->proxy_port, d->broker);
}

PART(int, apart_hosts,
     (const struct planfile_vectors *v, struct names_hosts *hosts,
      struct err *err))
{
	WIRED(v == &scene.args.vectors && hosts == &gate->hosts);
	return play(err, "apart_hosts");
}

PART(int, roots_share, (const char *dir, const struct ca *ca, struct err *err))
{
	WIRED(ca == &gate->l7.ca);
	return play(err, "roots_share %s", dir);
}

PART(int, podports_open,
     (const struct podlink *l, const uint16_t *ports, uint32_t n, int *out,
      struct err *err))
{
	WIRED(l == &gate->uplink.pod && out == gate->pod_ports);
	for (uint32_t i = 0; i < n; i++)
		out[i] = PORT + (int)i;
	return play(err, "podports_open %u %u", n, n ? ports[0] : 0);
}

PART(int, forward_hand, (int to, const int *fds, uint32_t n, struct err *err))
{
	WIRED(to == SUPERVISOR && fds == gate->pod_ports);
	return play(err, "forward_hand %u", n);
}

PART(int, caps_drop, (enum caps_keep keep, struct err *err))
{
	return play(err, "caps_drop %d", keep);
}

/* --- what is told --------------------------------------------------------- */

PART(int, planfile_read,
     (const char *dir, const char *name, struct str *out, struct err *err))
{
	static char text[RECORD_ROOTS_MAX + 1];

	memset(text, 'r', sizeof(text));
	*out = (struct str){text, sizeof(text)};
	return play(err, "planfile_read %s %s", dir, name);
}

PART(void, planfile_free, (struct str text))
{
	say("planfile_free %zu", text.n);
}

PART(int, ca_pem, (const struct ca *ca, char out[CA_CERT_MAX], struct err *err))
{
	WIRED(ca == &gate->l7.ca);
	strcpy(out, "the CA");
	return play(err, "ca_pem");
}

PART(void, outlog_line, (struct outlog * o, const char *line, size_t n))
{
	const char *at = memmem(line, n, "\"event\":", 8);

	WIRED(o == &gate->out && at);
	if (n > RECORD_ROOTS_MAX)
		say("line of roots");
	else
		say("line %.*s", (int)(line + n - at) - 10, at + 8);
}

PART(void, outlog_lost, (struct outlog * o, uint64_t n))
{
	WIRED(o == &gate->out);
	say("outlog_lost %u", (unsigned)n);
}

PART(void, outlog_drain, (struct outlog * o, int ms))
{
	WIRED(o == &gate->out);
	say("outlog_drain %d", ms);
}

PART(void, outlog_finish, (struct outlog * o))
{
	WIRED(o == &gate->out);
	say("outlog_finish");
}

PART(void, outlog_write, (struct outlog * o))
{
	WIRED(o == &gate->out);
	say("outlog_write");
}

PART(int, outlog_wait_ms, (const struct outlog *o, int64_t now_ms))
{
	WIRED(o == &gate->out && now_ms == time_ms);
	return this_turn()->out;
}

PART(void, report_idle, (struct gate * g, int64_t now_ms))
{
	WIRED(g == gate && (now_ms == time_ms || now_ms == INT64_MAX));
	say("report_idle%s", now_ms == INT64_MAX ? " all" : "");
}

PART(void, report_folded, (struct gate * g))
{
	WIRED(g == gate);
	say("report_folded");
}

/* --- the loop ------------------------------------------------------------- */

static void no_poll(struct pollfd *p, size_t n, int fd)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (struct pollfd){i ? -1 : fd, POLLIN, 0};
}

PART(void, l7_poll, (const struct l7 *l, struct pollfd *p))
{
	WIRED(l == &gate->l7);
	no_poll(p, L7_POLL, L7);
}

PART(void, asking_poll, (const struct asking *a, struct pollfd *p))
{
	WIRED(a == &gate->asking);
	no_poll(p, ASKING_POLL, ASKING);
}

PART(void, dns_gate_poll, (struct dns_gate * d, struct pollfd *p))
{
	WIRED(d == &gate->dns);
	no_poll(p, DNS_GATE_POLL, DNS);
}

PART(int, l7_step,
     (struct l7 * l, const struct pollfd *p, int64_t now_ms, struct err *err))
{
	WIRED(l == &gate->l7 && p[0].fd == L7 && now_ms == time_ms);
	return play(err, "l7_step");
}

PART(void, asking_step,
     (struct asking * a, const struct pollfd *p, int64_t now_ms))
{
	WIRED(a == &gate->asking && p[0].fd == ASKING && now_ms == time_ms);
	say("asking_step");
}

PART(void, dns_gate_step,
     (struct dns_gate * d, const struct pollfd *p, int64_t now_ms))
{
	WIRED(d == &gate->dns && p[0].fd == DNS && now_ms == time_ms);
	say("dns_gate_step");
}

PART(int, dns_gate_wait_ms, (const struct dns_gate *d, int64_t now_ms))
{
	WIRED(d == &gate->dns && now_ms == time_ms);
	return this_turn()->dns;
}

PART(int, l7_wait_ms, (const struct l7 *l, int64_t now_ms))
{
	WIRED(l == &gate->l7 && now_ms == time_ms);
	return this_turn()->l7;
}

PART(int, asking_wait_ms, (const struct asking *a, int64_t now_ms))
{
	WIRED(a == &gate->asking && now_ms == time_ms);
	return this_turn()->asking;
}

PART(int, change_wait_ms, (const struct change *c))
{
	WIRED(c == &gate->change);
	return this_turn()->change;
}

PART(int, l7_renewed, (struct l7 * l, struct str line, struct err *err))
{
	WIRED(l == &gate->l7);
	return play(err, "l7_renewed %.*s", STR_ARG(line));
}

PART(unsigned, l7log_read, (struct l7log * log, l7log_fn *fn, void *data))
{
	WIRED(log == &gate->l7.log && fn == report_logline && data == gate);
	say("l7log_read");
	return 0;
}

PART(void, l7_end, (struct l7 * l))
{
	WIRED(l == &gate->l7);
	say("l7_end");
}

PART(void, asking_listens, (struct asking * a, bool on))
{
	WIRED(a == &gate->asking);
	say("asking_listens %d", on);
}

PART(void, asking_answer,
     (struct asking * a, uint32_t number, enum asking_end end, int64_t now_ms))
{
	WIRED(a == &gate->asking && now_ms == time_ms);
	say("asking_answer %u %d", number, end);
}

PART(void, asking_changed, (struct asking * a, int64_t now_ms))
{
	WIRED(a == &gate->asking && now_ms == 77);
	say("asking_changed");
}

PART(int, change_begin,
     (struct change * c, uint32_t number, bool cut, int64_t now_ms,
      struct err *err))
{
	WIRED(c == &gate->change && strcmp(c->plan, "/plan") == 0 &&
	      c->resolver == scene.args.resolver && c->now == &gate->now &&
	      c->l7 == &gate->l7 && c->dns == &gate->dns);
	c->next.names.n_ask = scene.next_asks;
	c->begun_ms = now_ms - 30;
	return play(err, "change_begin %u %d %d", number, cut, (int)now_ms);
}

PART(void, change_drop, (struct change * c))
{
	WIRED(c == &gate->change);
	say("change_drop");
}

PART(int, change_step, (struct change * c, int64_t now_ms, struct err *err))
{
	const struct turn *t = past_turn();
	int rc = t->step;

	WIRED(c == &gate->change && now_ms == time_ms);
	say("change_step");
	if (t->settles) {
		rc = c->settle(c->data, err);
		c->on_applied(c->data, 77);
	}
	return rc < 0 ? err_set(err, rc, "the change fails") : rc;
}

PART(int, planfile_vectors,
     (const char *dir, struct planfile_vectors *out, struct err *err))
{
	WIRED(strcmp(dir, "/plan") == 0);
	*out = scene.args.vectors;
	return play(err, "planfile_vectors");
}

PART(int, haproxy_check_plan,
     (const struct l7_plan *p, const char *plan, struct err *err))
{
	(void)p;
	return play(err, "haproxy_check_plan %s", plan);
}

#endif
