#include "runtime/gate/packet/ruleset.h"

#include "compiler/plan/gate.h"

#include <errno.h>
#include <nftables/libnftables.h>
#include <string.h>

#define OWN_TABLE "inet " GATE_TABLE

static void nft_free(struct nft_ctx **ctx)
{
	if (*ctx)
		nft_ctx_free(*ctx);
}
#define auto_nft __attribute__((cleanup(nft_free)))

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

/*
 * The next word, past blanks and, when skip is set, past lines that begin with
 * '#'. Empty at the end. *line counts the lines begun.
 */
static struct str next_word(struct str s, size_t *at, unsigned *line, bool skip)
{
	bool fresh = *at == 0 || s.p[*at - 1] == '\n';
	size_t beg;

	while (*at < s.n) {
		char c = s.p[*at];

		if (c == '\n') {
			fresh = true;
			++*line;
		} else if (skip && fresh && c == '#') {
			*at = str_find(s, '\n', *at);
			continue;
		} else if (!is_blank(c)) {
			break;
		}
		++*at;
	}
	beg = *at;
	while (*at < s.n && !is_blank(s.p[*at]))
		++*at;
	return str_slice(s, beg, *at);
}

/*
 * Past "elements = { ... }" in a listing, where the text has the end of a set
 * instead: what the gate put there. Returns the word behind it.
 */
static struct str skip_elements(struct str listing, size_t *at, unsigned *line)
{
	struct str word;

	do
		word = next_word(listing, at, line, false);
	while (word.n && word.p[word.n - 1] != '}');
	return word.n ? next_word(listing, at, line, false) : word;
}

/* From nftables 1.1 on a listing has an ICMP code as a number: which name it
 * would have depends on the type. */
static bool is_same_word(struct str before, struct str want, struct str have)
{
	if (str_is(before, "code") && str_is(want, "frag-needed") &&
	    str_is(have, "4"))
		return true;
	return str_eq(want, have);
}

bool ruleset_same(struct str text, struct str listing, unsigned *out_line,
		  struct str *out_want, struct str *out_have)
{
	unsigned line = 1, other = 1;
	struct str before = {0};
	size_t i = 0, k = 0;

	for (;;) {
		struct str want = next_word(text, &i, &line, true);
		struct str have = next_word(listing, &k, &other, false);

		if (str_is(want, "}") && str_is(have, "elements"))
			have = skip_elements(listing, &k, &other);
		if (!is_same_word(before, want, have)) {
			*out_line = line;
			*out_want = want;
			*out_have = have;
			return false;
		}
		if (want.n == 0)
			return true;
		before = want;
	}
}

bool ruleset_has_set(struct str text, const char *name)
{
	unsigned line = 1;
	size_t at = 0;
	struct str last = {0};

	for (;;) {
		struct str word = next_word(text, &at, &line, true);

		if (word.n == 0)
			return false;
		if (str_is(last, "set") && str_is(word, name))
			return true;
		last = word;
	}
}

static struct nft_ctx *open_nft(void)
{
	struct nft_ctx *ctx = nft_ctx_new(NFT_CTX_DEFAULT);

	if (!ctx)
		return NULL;
	nft_ctx_output_set_flags(ctx, NFT_CTX_OUTPUT_STATELESS);
	if (nft_ctx_buffer_output(ctx) || nft_ctx_buffer_error(ctx)) {
		nft_ctx_free(ctx);
		return NULL;
	}
	return ctx;
}

static int run_commands(struct nft_ctx *ctx, const char *text, struct err *err)
{
	struct str said, line;

	if (nft_run_cmd_from_buffer(ctx, text) == 0)
		return 0;
	/* What follows shows the line again, and where in it. */
	said = str_of(nft_ctx_get_error_buffer(ctx));
	if (!str_line(&said, &line))
		line = STR("no reason given");
	return err_set(err, -EINVAL, "nft: %.*s",
		       STR_ARG(str_slice(line, 0, 400)));
}

static int compare_listed(struct nft_ctx *ctx, const char *table,
			  struct str text, struct err *err)
{
	struct str want, have;
	char list[64];
	unsigned line;
	int rc;

	snprintf(list, sizeof(list), "list table %s", table);
	rc = run_commands(ctx, list, err);
	if (rc < 0)
		return rc;
	if (ruleset_same(text, str_of(nft_ctx_get_output_buffer(ctx)), &line,
			 &want, &have))
		return 0;
	return err_set(err, -EPROTO,
		       "line %u: written is '%.*s', the kernel holds '%.*s'",
		       line, STR_ARG(str_slice(want, 0, 80)),
		       STR_ARG(str_slice(have, 0, 80)));
}

int ruleset_load(struct str text, struct err *err)
{
	auto_nft struct nft_ctx *ctx = open_nft();

	if (!ctx)
		return err_set(err, -ENOMEM, "libnftables: out of memory");
	/* Loading into a table that is there would add to it. */
	if (nft_run_cmd_from_buffer(ctx, "list table inet " GATE_TABLE) == 0)
		return err_set(err, -EEXIST,
			       "table inet " GATE_TABLE " exists already");
	nft_ctx_get_error_buffer(ctx);
	return run_commands(ctx, text.p, err);
}

int ruleset_verify(struct str text, struct err *err)
{
	auto_nft struct nft_ctx *ctx = open_nft();

	return ctx ? compare_listed(ctx, OWN_TABLE, text, err)
		   : err_set(err, -ENOMEM, "libnftables: out of memory");
}

/* The kernel tries what is added against what is there, in a dry run, too. */
static int run_instead(struct nft_ctx *ctx, const char *table, struct str text,
		       struct str elements, struct err *err)
{
	struct arena *a = arena_new();
	struct buf all;
	int rc;

	buf_init(&all, a);
	buf_addf(&all, "delete table %s\n", table);
	buf_add(&all, text);
	buf_addc(&all, '\n');
	buf_add(&all, elements);
	rc = ctx ? run_commands(ctx, arena_cstr(a, buf_str(&all)), err)
		 : err_set(err, -ENOMEM, "libnftables: out of memory");
	arena_free(a);
	return rc;
}

int ruleset_replace(struct str text, struct str elements, struct err *err)
{
	auto_nft struct nft_ctx *ctx = open_nft();
	int rc = run_instead(ctx, OWN_TABLE, text, elements, err);

	return rc < 0 ? rc : compare_listed(ctx, OWN_TABLE, text, err);
}

/* There is one from then on, whether it was there or not. */
static int have_table(struct nft_ctx *ctx, const char *table, struct err *err)
{
	char add[64];

	if (!ctx)
		return err_set(err, -ENOMEM, "libnftables: out of memory");
	snprintf(add, sizeof(add), "add table %s", table);
	return run_commands(ctx, add, err);
}

int ruleset_put(const char *table, struct str text, struct err *err)
{
	auto_nft struct nft_ctx *ctx = open_nft();
	int rc = have_table(ctx, table, err);

	if (rc == 0)
		rc = run_instead(ctx, table, text, STR(""), err);
	return rc < 0 ? rc : compare_listed(ctx, table, text, err);
}

int ruleset_drop(const char *table, struct err *err)
{
	auto_nft struct nft_ctx *ctx = open_nft();
	int rc = have_table(ctx, table, err);

	return rc < 0 ? rc : run_instead(ctx, table, STR(""), STR(""), err);
}

int ruleset_check(struct str text, struct err *err)
{
	auto_nft struct nft_ctx *ctx = open_nft();

	if (!ctx)
		return err_set(err, -ENOMEM, "libnftables: out of memory");
	nft_ctx_set_dry_run(ctx, true);
	return run_commands(ctx, text.p, err);
}

int ruleset_check_next(struct str text, struct err *err)
{
	auto_nft struct nft_ctx *ctx = open_nft();

	if (ctx)
		nft_ctx_set_dry_run(ctx, true);
	return run_instead(ctx, OWN_TABLE, text, STR(""), err);
}

void ruleset_hosts_text(struct str text, const struct names_hosts *hosts,
			struct buf *out)
{
	char addr[ADDR_TEXT_MAX];

	for (uint32_t i = 0; i < hosts->n; i++) {
		const struct addr *a = &hosts->v[i];
		const char *set = a->family == ADDR_V6 ? "host6" : "host4";

		if (ruleset_has_set(text, set))
			buf_addf(out, "add element inet %s %s { %s }\n",
				 GATE_TABLE, set, addr_text(a, addr));
	}
	if (hosts->proxy_port && ruleset_has_set(text, "proxy4"))
		buf_addf(out, "add element inet %s proxy%s { %s . %u }\n",
			 GATE_TABLE, hosts->proxy.family == ADDR_V6 ? "6" : "4",
			 addr_text(&hosts->proxy, addr), hosts->proxy_port);
	if (hosts->resolver_port && ruleset_has_set(text, "resolver4"))
		buf_addf(out, "add element inet %s resolver%s { %s . %u }\n",
			 GATE_TABLE,
			 hosts->resolver.family == ADDR_V6 ? "6" : "4",
			 addr_text(&hosts->resolver, addr),
			 hosts->resolver_port);
}

int ruleset_hosts(struct str text, const struct names_hosts *hosts,
		  struct err *err)
{
	auto_nft struct nft_ctx *ctx = NULL;
	struct arena *a = arena_new();
	struct buf cmd;
	int rc = 0;

	buf_init(&cmd, a);
	ruleset_hosts_text(text, hosts, &cmd);
	if (cmd.n)
		ctx = open_nft();
	if (ctx)
		rc = run_commands(ctx, arena_cstr(a, buf_str(&cmd)), err);
	else if (cmd.n)
		rc = err_set(err, -ENOMEM, "libnftables: out of memory");
	arena_free(a);
	return rc;
}
