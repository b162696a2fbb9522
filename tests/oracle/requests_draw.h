/*
 * Policies at random that have something to say of requests: names, networks,
 * ports, methods, paths and TLS, from few of each, so that they meet.
 */
#ifndef TESTS_ORACLE_REQUESTS_DRAW_H
#define TESTS_ORACLE_REQUESTS_DRAW_H

#include "tests/oracle/generate.h"

static const char *const draw_methods[] = {
	"*", "GET", "GET+POST", "PUT", "DELETE+POST", "OPTIONS", "PATCH+GET"};
static const char *const draw_paths[] = {"",
					 "",
					 "+/api",
					 "+/api/",
					 "+/private",
					 "+/api/x+/private",
					 "+/it's/$x;y",
					 "+/del@ete",
					 "+/"};
static const char *const draw_ports[] = {"",
					 "",
					 " tcp/443",
					 " tcp/80,tcp/443",
					 " tcp/8000-8999",
					 " tcp/443,udp/443"};
static const char *const draw_schemes[] = {"https://", "https://", "http://"};
static const char *const draw_url_ports[] = {"",     "",    "",
					     ":443", ":80", ":8443"};
static const char *const draw_nets[] = {"1.2.3.0/24", "1.2.3.5/32",
					"10.0.0.0/8", "2606:4700::/32",
					"::/0",	      "0.0.0.0/0"};

static inline const char *draw_dest(struct rng *r)
{
	return rng_below(r, 3) ? GEN_PICK(r, gen_names)
			       : GEN_PICK(r, gen_patterns);
}

static inline void draw_denial(struct rng *r, char *out, size_t size)
{
	const char *port = GEN_PICK(r, draw_ports);
	char rule[128];

	snprintf(rule, sizeof(rule), " http=%s%s", GEN_PICK(r, draw_methods),
		 GEN_PICK(r, draw_paths));
	switch (rng_below(r, 6)) {
	case 0:
		snprintf(out, size, "deny %s%s%s/api/",
			 GEN_PICK(r, draw_schemes), draw_dest(r),
			 GEN_PICK(r, draw_url_ports));
		return;
	case 1:
		snprintf(out, size, "deny %s%s%s",
			 rng_below(r, 4) ? GEN_PICK(r, draw_nets) : "*", port,
			 rule);
		return;
	default:
		snprintf(out, size, "deny %s%s%s", draw_dest(r), port,
			 rng_below(r, 2) ? rule : "");
		return;
	}
}

static inline void draw_line(struct rng *r, char *out, size_t size)
{
	char rule[128];
	const char *port = GEN_PICK(r, draw_ports);
	const char *private = rng_below(r, 4) ? "" : " private";
	const char *tls = rng_below(r, 6) ? "" : " inspect";

	snprintf(rule, sizeof(rule), " http=%s%s", GEN_PICK(r, draw_methods),
		 GEN_PICK(r, draw_paths));
	switch (rng_below(r, 16)) {
	case 0:
		snprintf(out, size, "allow *%s%s%s", port,
			 rng_below(r, 2) ? rule : "", private);
		return;
	case 1:
		snprintf(out, size, "allow %s%s%s", GEN_PICK(r, draw_nets),
			 port, rule);
		return;
	case 2:
	case 3:
		draw_denial(r, out, size);
		return;
	case 4:
		snprintf(out, size, "allow %s%s%s%s", GEN_PICK(r, draw_schemes),
			 draw_dest(r), GEN_PICK(r, draw_url_ports),
			 rng_below(r, 2) ? "/api" : "");
		return;
	case 5:
		snprintf(out, size, "credential %s X-Secret TOKEN",
			 GEN_PICK(r, gen_names));
		return;
	case 14:
	case 15:
		snprintf(out, size, "allow %s%s", GEN_PICK(r, draw_nets), port);
		return;
	case 6:
	case 7:
	case 8:
		snprintf(out, size, "allow %s%s%s%s", draw_dest(r), port,
			 private, tls);
		return;
	default:
		/* Two rules, often. */
		snprintf(out, size, "allow %s%s%s", draw_dest(r), port, rule);
		if (rng_below(r, 2)) {
			size_t n = strlen(out);

			snprintf(out + n, size - n, " http=%s%s",
				 GEN_PICK(r, draw_methods),
				 GEN_PICK(r, draw_paths));
		}
		return;
	}
}

static inline void draw_policy(struct rng *r, struct gen_policy *p)
{
	p->n = 1 + rng_below(r, rng_below(r, 3) ? 6 : GEN_LINES_MAX);
	for (uint32_t i = 0; i < p->n; i++)
		draw_line(r, p->lines[i], sizeof(p->lines[i]));
	if (rng_below(r, 2) && p->n + 2 <= GEN_LINES_MAX) {
		snprintf(p->lines[p->n++], GEN_LINE_MAX, "allow %s%s",
			 GEN_PICK(r, draw_nets), GEN_PICK(r, draw_ports));
		draw_denial(r, p->lines[p->n++], GEN_LINE_MAX);
	}
	gen_text(p, UINT32_MAX);
	if (rng_below(r, 2))
		gen_asks(r, p);
}

#endif
