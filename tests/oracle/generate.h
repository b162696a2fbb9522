/*
 * Policies at random, from few addresses, names and ports, so that they meet.
 * A seed gives the same policies everywhere.
 */
#ifndef TESTS_ORACLE_GENERATE_H
#define TESTS_ORACLE_GENERATE_H

#include "compiler/base/addr.h"
#include "compiler/base/agent_link.h"

#include "tests/rng.h"

#include <stdio.h>
#include <string.h>

static const char *const gen_addrs[] = {
	"1.2.3.4",
	"1.2.3.5",
	"1.2.4.0",
	"8.8.8.8",
	"0.1.2.3",
	"10.0.0.1",
	"10.1.2.3",
	"10.255.255.255",
	"100.64.0.1",
	"100.128.0.0",
	"127.0.0.1",
	"169.254.169.254",
	"169.254.0.1",
	"172.16.0.1",
	"172.32.0.1",
	"192.0.0.1",
	"192.0.0.2",
	"192.0.0.5",
	"192.0.0.8",
	"192.168.1.1",
	"198.18.0.1",
	"198.20.0.0",
	"223.255.255.255",
	"224.0.0.1",
	"239.255.255.255",
	"255.255.255.255",
	"203.0.113.7",
	"::",
	"::1",
	"::10.0.0.1",
	"::1.2.3.4",
	"::ffff:1.2.3.4",
	"64:ff9b::a00:1",
	"64:ff9b::102:304",
	"64:ff9b::7f00:1",
	"64:ff9b:1::1",
	"2001:db8::1",
	"2001:db8::2",
	"2001:db8:1::",
	"2002:a00:1::",
	"2002:102:304::1",
	"2002:a9fe:1::1",
	"fc00::1",
	"fd00:6d65:6d62::1",
	"fd00:6d65:6d62:1::1",
	"fe80::1",
	"febf::1",
	"fec0::1",
	"ff02::1",
	"2606:4700::1",
	"3fff::",
	"ffff::ffff",
};
static const char *const gen_names[] = {
	"test",	  "a.test",   "b.a.test",      "c.b.a.test", "d.c.b.a.test",
	"x.test", "b.x.test", "other.example", "a.example",
};
static const char *const gen_patterns[] = {
	"*.test",     "**.test",  "*.a.test",  "**.a.test",
	"*.*.a.test", "b.*.test", "*.example", "**.b.a.test",
};
static const char *const gen_ports[] = {
	"tcp/443",
	"tcp/22",
	"udp/53",
	"tcp/53,udp/53",
	"tcp/1-65535",
	"udp/1-65535",
	"tcp/80,tcp/443",
	"tcp/8000-8999",
	"tcp/65535",
	"tcp/1",
	"tcp/8500-9000,udp/1000-2000",
	"tcp/1-65535,udp/1-65535",
	"tcp/22-24,tcp/80-90,tcp/443,udp/443",
	"tcp/15001-15002", /* the gate's own numbers */
	"tcp/15004,udp/15000-15003",
};
static const uint16_t gen_ports_hit[] = {
	1,    22,   23,	  53,	 80,	81,    443,   444,
	999,  1000, 2000, 2001,	 7999,	8000,  8499,  8500,
	8999, 9000, 9001, 15001, 15002, 15004, 65534, 65535,
};

#define GEN_PICK(r, table) ((table)[rng_below((r), ARRAY_LEN(table))])

static inline struct addr gen_addr(struct rng *r)
{
	struct addr a = {0};

	addr_parse(str_of(GEN_PICK(r, gen_addrs)), &a);
	/* Sometimes a neighbour. */
	if (rng_below(r, 4) == 0)
		addr_step_up(&a);
	else if (rng_below(r, 4) == 0)
		addr_step_down(&a);
	else if (rng_below(r, 8) == 0)
		a.b[rng_below(r, a.family == ADDR_V4 ? 4 : 16)] ^=
			(uint8_t)(1u << rng_below(r, 8));
	return a;
}

/* Parts of the gate's own link are no destination. */
static inline bool gen_is_link(const struct cidr *c)
{
	struct cidr v4 = {0}, v6 = {0};

	cidr_parse(STR(LINK_SUBNET_V4), &v4);
	cidr_parse(STR(LINK_SUBNET_V6), &v6);
	return (c->bits > v4.bits && cidr_covers(&v4, c)) ||
	       (c->bits > v6.bits && cidr_covers(&v6, c));
}

static inline void gen_cidr(struct rng *r, char out[CIDR_TEXT_MAX])
{
	struct cidr c;

	do {
		struct addr a = gen_addr(r);
		uint32_t max = addr_bits(a.family);
		uint32_t bits = rng_below(r, 3) ? max - rng_below(r, 9)
						: rng_below(r, max + 1);
		char text[ADDR_TEXT_MAX], whole[CIDR_TEXT_MAX + 8];

		snprintf(whole, sizeof(whole), "%s/%u", addr_text(&a, text),
			 bits);
		cidr_parse(str_of(whole), &c); /* clears the host's bits */
	} while (gen_is_link(&c));
	cidr_text(&c, out);
}

/* Grants whose flows only HTTP and TLS may use. */
static inline void gen_http_line(struct rng *r, char *out, size_t size,
				 const char *ports, const char *private)
{
	char net[CIDR_TEXT_MAX];

	/* The two do not go together. */
	if (strstr(ports, "udp"))
		ports = "tcp/443";
	switch (rng_below(r, 5)) {
	case 0:
		if (rng_below(r, 6) == 0)
			strcpy(net, "192.0.0.5");
		else
			gen_cidr(r, net);
		snprintf(out, size, "allow %s%s%s http", net, *ports ? " " : "",
			 ports);
		return;
	case 1:
		snprintf(out, size, "allow *%s%s http%s", *ports ? " " : "",
			 ports, private);
		return;
	case 2:
		snprintf(out, size, "allow https://%s/x%s",
			 GEN_PICK(r, gen_names), private);
		return;
	default:
		snprintf(out, size, "allow %s%s%s http%s",
			 rng_below(r, 2) ? GEN_PICK(r, gen_names)
					 : GEN_PICK(r, gen_patterns),
			 *ports ? " " : "", ports, private);
		return;
	}
}

/* Of requests, which are nothing to the packet filter but where QUIC may be. */
static inline void gen_denial_line(struct rng *r, char *out, size_t size,
				   const char *ports)
{
	char net[CIDR_TEXT_MAX];
	struct cidr first;
	bool v6;

	if (strstr(ports, "udp"))
		ports = "tcp/443";
	if (rng_below(r, 5) == 0) {
		snprintf(out, size, "deny %s://%s/x",
			 rng_below(r, 3) ? "https" : "http",
			 rng_below(r, 2) ? GEN_PICK(r, gen_names)
					 : GEN_PICK(r, gen_patterns));
		return;
	}
	if (rng_below(r, 4) == 0) {
		static const char *const wide[] = {"*", "**.test", "*.a.test"};

		snprintf(out, size, "deny %s%s%s http=DELETE",
			 GEN_PICK(r, wide), *ports ? " " : "", ports);
		return;
	}
	do { /* of which the first address may stand alone */
		gen_cidr(r, net);
		cidr_parse(str_of(net), &first);
		first.bits = addr_bits(first.addr.family);
	} while (gen_is_link(&first));
	v6 = strchr(net, ':') != NULL;
	*strchr(net, '/') = rng_below(r, 4) ? '/' : '\0';
	if (!strchr(net, '/') && rng_below(r, 2))
		snprintf(out, size, "deny %s://%s%s%s/x",
			 rng_below(r, 3) ? "https" : "http", v6 ? "[" : "", net,
			 v6 ? "]" : "");
	else
		snprintf(out, size, "deny %s%s%s http=DELETE",
			 rng_below(r, 6) ? net : GEN_PICK(r, gen_names),
			 *ports ? " " : "", ports);
}

/* One line as in tests/policy.h, of what the packet filter enforces. */
static inline void gen_line(struct rng *r, char *out, size_t size)
{
	char net[CIDR_TEXT_MAX];
	const char *ports = rng_below(r, 5) ? GEN_PICK(r, gen_ports) : "";
	static const char *const privates[] = {"", "", "", " private",
					       " public"};
	const char *private = GEN_PICK(r, privates);

	if (rng_below(r, 24) == 0) { /* 'host' */
		snprintf(out, size, "%s 192.0.0.5 %s",
			 rng_below(r, 4) ? "allow" : "deny",
			 rng_below(r, 2) ? "tcp/443" : "tcp/8000-8999");
		return;
	}
	switch (rng_below(r, 13)) {
	case 12:
		gen_denial_line(r, out, size, ports);
		return;
	case 9:
		gen_http_line(r, out, size, ports, private);
		return;
	case 10:
		snprintf(out, size, "deny %s%s%s",
			 rng_below(r, 2) ? GEN_PICK(r, gen_names)
					 : GEN_PICK(r, gen_patterns),
			 *ports ? " " : "", ports);
		return;
	case 0:
		snprintf(out, size, "allow *%s%s%s", *ports ? " " : "", ports,
			 private);
		return;
	case 1:
	case 2:
		snprintf(out, size, "allow %s%s%s%s", GEN_PICK(r, gen_names),
			 *ports ? " " : "", ports, private);
		return;
	case 3:
		snprintf(out, size, "allow %s%s%s%s", GEN_PICK(r, gen_patterns),
			 *ports ? " " : "", ports, private);
		return;
	case 4:
		if (rng_below(r, 3) == 0) {
			snprintf(out, size, "deny *%s%s", *ports ? " " : "",
				 ports);
			return;
		}
		gen_cidr(r, net);
		snprintf(out, size, "deny %s%s%s", net, *ports ? " " : "",
			 ports);
		return;
	default:
		gen_cidr(r, net);
		snprintf(out, size, "allow %s%s%s", net, *ports ? " " : "",
			 ports);
		return;
	}
}

#define GEN_LINES_MAX 24
#define GEN_LINE_MAX  160

struct gen_policy {
	char lines[GEN_LINES_MAX][GEN_LINE_MAX];
	uint32_t n;
	char text[GEN_LINES_MAX * GEN_LINE_MAX];
};

/* The text of those lines whose bit is set. */
static inline const char *gen_text(struct gen_policy *p, uint32_t mask)
{
	size_t n = 0;

	p->text[0] = '\0';
	for (uint32_t i = 0; i < p->n; i++)
		if (mask & (1u << i))
			n += (size_t)snprintf(p->text + n, sizeof(p->text) - n,
					      "%s\n", p->lines[i]);
	return p->text;
}

/* What is granted elsewhere, denied: on its ports, or on some; or granted once
 * more with another word on private addresses. */
static inline void gen_overlap(struct rng *r, const char *of, char *out,
			       size_t size)
{
	char dest[80], ports[64] = "";
	int n = sscanf(of, "allow %79s %63s", dest, ports);

	/* Of 'host' there is TCP alone, on few ports. */
	if (n < 1 || strstr(of, "http") || strcmp(dest, "192.0.0.5") == 0) {
		gen_line(r, out, size);
		return;
	}
	if (n == 2 && !strchr(ports, '/'))
		ports[0] = '\0';
	if (rng_below(r, 3) == 0)
		snprintf(ports, sizeof(ports), "%s", GEN_PICK(r, gen_ports));
	if (rng_below(r, 3))
		snprintf(out, size, "deny %s%s%s", dest, *ports ? " " : "",
			 ports);
	else
		snprintf(out, size, "allow %s%s%s%s", dest, *ports ? " " : "",
			 ports,
			 strchr("0123456789", dest[0]) || strchr(dest, ':') ? ""
			 : rng_below(r, 2) ? " private"
					   : " public");
}

static inline void gen_policy(struct rng *r, struct gen_policy *p)
{
	p->n = 1 + rng_below(r, rng_below(r, 3) ? 6 : GEN_LINES_MAX);
	for (uint32_t i = 0; i < p->n; i++) {
		if (i && rng_below(r, 5) == 0)
			gen_overlap(r, p->lines[rng_below(r, i)], p->lines[i],
				    sizeof(p->lines[i]));
		else
			gen_line(r, p->lines[i], sizeof(p->lines[i]));
	}
	gen_text(p, UINT32_MAX);
}

/* Some of what is granted over TCP alone, asked about. */
static inline void gen_asks(struct rng *r, struct gen_policy *p)
{
	for (uint32_t i = 0; i < p->n; i++) {
		char *line = p->lines[i];

		if (strncmp(line, "allow ", 6) != 0 || strstr(line, "udp") ||
		    strstr(line, "192.0.0.5") || rng_below(r, 3))
			continue;
		memcpy(line, "ask", 3);
		memmove(line + 3, line + 5, strlen(line + 5) + 1);
	}
	gen_text(p, UINT32_MAX);
}

#endif
