/*
 * cells.h: which ports stand for all, and what a few of its functions promise.
 */
#include "tests/unit/algebra/cells.h"

/* --- ports ---------------------------------------------------------------- */

/* "tcp/1-442=0,1@80 " */
static void show_ports(void *ctx, const struct cells_ports *p)
{
	struct cells *c = ctx;

	buf_addf(&c->shown,
		 "%s/%u-%u=", p->proto == IR_PROTO_TCP ? "tcp" : "udp", p->lo,
		 p->hi);
	show_rules(c, p->ids, p->n);
	buf_addf(&c->shown, "@%u ", p->shown);
}

static const struct {
	const char *was, *now, *only, *shown;
} ports[] = {
	{"allow a.test tcp/22-60\n", NULL, NULL, "tcp/22-60=0@22 "},
	{"allow a.test tcp/1-100\nallow a.test tcp/1-50\n"
	 "allow a.test tcp/1-75\n",
	 NULL, NULL, "tcp/1-50=0,1,2@22 tcp/51-75=0,2@53 tcp/76-100=0@80 "},
	{"allow a.test tcp/1-100\nallow a.test tcp/20-40\n"
	 "allow a.test tcp/30-75\nallow a.test tcp/35-36\n",
	 NULL, NULL,
	 "tcp/1-19=0@1 tcp/20-29=0,1@22 tcp/30-34=0,1,2@30 tcp/35-36=0,1,2,3@35 tcp/37-40=0,1,2@37 tcp/41-75=0,2@53 tcp/76-100=0@80 "},
	{"allow a.test udp/1-65535\ndeny a.test tcp/443,udp/443 http=GET\n",
	 NULL, NULL, "udp/1-442=0@53 udp/443-443=0,1@443 udp/444-65535=0@444 "},
	{"allow a.test udp/1-500\ndeny 203.0.113.0/24 tcp/443 http=GET\n", NULL,
	 NULL, "udp/1-442=0,1@53 udp/443-443=0,1@443 udp/444-500=0,1@444 "},
	{"allow a.test tcp/1-500\ndeny 203.0.113.0/24 tcp/443 http=GET\n", NULL,
	 NULL, "tcp/1-442=0@80 tcp/443-443=0,1@443 tcp/444-500=0@444 "},
	{"allow a.test udp/1-500\ndeny 203.0.113.0/24 tcp/443\n", NULL, NULL,
	 "udp/1-500=0@53 "},
	{"allow a.test:443\n", NULL, NULL, "tcp/443-443=0@443 "},
	{"allow a.test\n", NULL, NULL, "tcp/1-65535=0@443 "},
	{"allow a.test udp/1-65535\n", NULL, NULL, "udp/1-65535=0@53 "},
	{"deny a.test\n", NULL, NULL, ""},
	{"allow a.test:443\nallow a.test tcp/400-500\n", NULL, NULL,
	 "tcp/400-442=0@400 tcp/443-443=0,1@443 tcp/444-500=0@444 "},
	{"allow a.test tcp/1-99\nallow a.test tcp/100-200\n", NULL, NULL,
	 "tcp/1-99=0@80 tcp/100-200=1@100 "},
	{"allow a.test tcp/1-99\nallow a.test tcp/101-200\n", NULL, NULL,
	 "tcp/1-99=0@80 tcp/101-200=1@101 "},
	{"allow a.test tcp/53,udp/53\n", NULL, NULL,
	 "tcp/53-53=0@53 udp/53-53=0@53 "},
	{"allow a.test udp/123\nallow b.test udp/124-65535\n", NULL, NULL,
	 "udp/123-123=0@123 udp/124-65535=1@443 "},
	{"allow a.test tcp/65535,udp/65535\n", NULL, NULL,
	 "tcp/65535-65535=0@65535 udp/65535-65535=0@65535 "},
	{"allow a.test\ndeny a.test tcp/22\n", NULL, NULL,
	 "tcp/1-21=0@1 tcp/22-22=0,1@22 tcp/23-65535=0@443 "},
	{"allow a.test udp/1-65535\ndeny a.test tcp/22\n", NULL, NULL,
	 "udp/1-21=0@1 udp/22-22=0,1@22 udp/23-65535=0@53 "},
	{"allow a.test udp/1-65535\ndeny a.test tcp/1-65535 http=GET\n", NULL,
	 NULL, "udp/1-65535=0,1@53 "},
	{"allow a.test udp/1-65535\ndeny http://a.test/\n", NULL, NULL,
	 "udp/1-65535=0@53 "},
	{"allow a.test udp/1-500\ndeny 203.0.113.0/24 tcp/1-65535 http=GET\n",
	 NULL, NULL, "udp/1-500=0,1@53 "},
	{"allow a.test tcp/1-500\ndeny 203.0.113.0/24 tcp/1-65535 http=GET\n",
	 NULL, NULL, "tcp/1-500=0,1@443 "},
	{"allow a.test\n", "allow a.test:443\n", NULL,
	 "tcp/1-442=0@80 tcp/443-443=0,1@443 tcp/444-65535=0@8080 "},
	{"allow a.test\n", NULL, "tcp/80", "tcp/80-80=0@80 "},
	{"allow a.test\n", NULL, "tcp/80-90,tcp/443,udp/53",
	 "tcp/80-90=0@80 tcp/443-443=0@443 "},
	{"allow a.test tcp/80-85\n", NULL, "tcp/70-82", "tcp/80-82=0@80 "},
	{"allow a.test tcp/81\n", NULL, "tcp/80", ""},
	{"allow a.test tcp/1-21\n", NULL, NULL, "tcp/1-21=0@1 "},
	{"allow a.test tcp/1-22\n", NULL, NULL, "tcp/1-22=0@22 "},
	{"allow a.test tcp/23-79\n", NULL, NULL, "tcp/23-79=0@53 "},
	{"allow a.test tcp/81-442\n", NULL, NULL, "tcp/81-442=0@81 "},
	{"allow a.test tcp/444-65535\n", NULL, NULL, "tcp/444-65535=0@8080 "},
	{"allow a.test tcp/8081-65535\n", NULL, NULL, "tcp/8081-65535=0@8081 "},
	{"allow a.test udp/54-442\n", NULL, NULL, "udp/54-442=0@123 "},
	{"allow a.test udp/54-65535\n", NULL, NULL, "udp/54-65535=0@443 "},
	{"allow a.test udp/444-65535\n", NULL, NULL, "udp/444-65535=0@444 "},
	{"allow 203.0.113.0/24 tcp/80 http=GET\nallow a.test udp/1-500\n", NULL,
	 NULL, "tcp/80-80=0@80 udp/1-500=1@53 "},
	{"", NULL, NULL, ""},
};

static void check_ports(void)
{
	for (size_t i = 0; i < ARRAY_LEN(ports); i++) {
		struct cells c;
		ir_ports only = {0};

		begin_cells(&c, ports[i].was, ports[i].now, "a.test", NULL);
		if (ports[i].only)
			CHECK(test_ports(c.was.a, str_of(ports[i].only),
					 &only));
		cells_ports(&c.s, c.ids, c.n, ports[i].only ? &only : NULL,
			    show_ports, &c);
		CHECK_MSG(str_is(buf_str(&c.shown), ports[i].shown),
			  "%zu %s:\n\t\t\"%.*s\"", i, ports[i].was,
			  STR_ARG(buf_str(&c.shown)));
		end_cells(&c);
	}
}

/* --- where the floor denies ----------------------------------------------- */

/* Of 127.0.0.1, with the floor's own rule: a network that may open it is there
 * on all ports that another has. */
static const struct {
	const char *was, *shown;
} opened[] = {
	{"allow 127.0.0.1 tcp/80\n", "tcp/80-80=0@80 "},
	{"allow 127.0.0.1 tcp/80\nallow 127.0.0.0/9 tcp/22\n",
	 "tcp/22-22=0,1@22 tcp/80-80=0,1@80 "},
	{"allow 127.0.0.1 tcp/80-90\nallow 127.0.0.0/9 tcp/85-99\n",
	 "tcp/80-84=0,1@80 tcp/85-90=0,1@85 tcp/91-99=0,1@91 "},
	{"allow 127.0.0.1 tcp/80 http\nallow 127.0.0.0/9 tcp/22\n",
	 "tcp/22-22=0@22 tcp/80-80=0,1@80 "},
	{"allow 127.0.0.1 tcp/80\ndeny 127.0.0.0/9 tcp/22\n",
	 "tcp/80-80=0@80 "},
	{"allow * tcp/80\nallow 127.0.0.0/9 tcp/22\n",
	 "tcp/22-22=1@22 tcp/80-80=0,1@80 "},
	{"ask 127.0.0.1 tcp/80\nallow 127.0.0.0/9 tcp/22\n",
	 "tcp/22-22=0,1@22 tcp/80-80=0,1@80 "},
};

static void show_opened(void *ctx, const struct cells_ports *p)
{
	struct cells *c = ctx;
	struct cells_ports users = *p;
	uint32_t ids[64];

	users.ids = ids;
	users.n = 0;
	for (uint32_t i = 0; i < p->n; i++)
		if (place_of(c, p->ids[i]) != UINT32_MAX)
			ids[users.n++] = p->ids[i];
	CHECK(users.n + 1 == p->n);
	show_ports(ctx, &users);
}

static void check_opened(void)
{
	for (size_t i = 0; i < ARRAY_LEN(opened); i++) {
		struct cells c;
		uint32_t ids[64], n = 0;

		begin_cells(&c, opened[i].was, NULL, "", "127.0.0.1");
		for (uint32_t k = 0; k < c.s.rules.n; k++) {
			const struct ir_grant *g = rule_grant(&c.s.rules.v[k]);
			const struct cidr *net = ir_dest_net(&g->dest);

			if (!net || cidr_has(net, &c.to.addr))
				ids[n++] = k;
		}
		ids[n] = UINT32_MAX / 2;
		cells_ports(&c.s, ids, n, NULL, show_opened, &c);
		CHECK_MSG(str_is(buf_str(&c.shown), opened[i].shown),
			  "%zu %s:\n\t\t\"%.*s\"", i, opened[i].was,
			  STR_ARG(buf_str(&c.shown)));
		end_cells(&c);
	}
}

/* What is kept is a copy, of each text. */
static void check_copy(void)
{
	struct arena *a = arena_new();
	char text[] = "abcde";
	struct ir_request r = {
		.name = {text, 1},
		.method = {text + 1, 1},
		.type = {text + 2, 1},
		.url = {.name = {text + 3, 1}, .path = {text + 4, 1}}};
	struct ir_request kept = cells_kept(a, &r);

	memset(text, 'x', 5);
	CHECK(str_is(kept.name, "a") && str_is(kept.method, "b") &&
	      str_is(kept.type, "c") && str_is(kept.url.name, "d") &&
	      str_is(kept.url.path, "e"));
	arena_free(a);
}

int main(void)
{
	check_ports();
	check_opened();
	check_copy();
	return check_status();
}
