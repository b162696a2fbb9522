/*
 * The packet filter, as the kernel has it: what is loaded, compared, put in the
 * place of another text and taken away. Each in a network of its own.
 */
#include "runtime/gate/packet/ruleset.h"

#include "runtime/gate/packet/fence.h"
#include "tests/unit/gate/plans.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <nftables/libnftables.h>

#define SETS                                                                   \
	"	set host4 {\n"                                                       \
	"		type ipv4_addr\n"                                                   \
	"		flags interval\n"                                                   \
	"	}\n"                                                                 \
	"\n"                                                                   \
	"	set host6 {\n"                                                       \
	"		type ipv6_addr\n"                                                   \
	"		flags interval\n"                                                   \
	"	}\n"
#define PORTS(name)                                                            \
	"	set " name "4 {\n"                                             \
	"		type ipv4_addr . inet_service\n"                                    \
	"	}\n"                                                                 \
	"\n"                                                                   \
	"	set " name "6 {\n"                                             \
	"		type ipv6_addr . inet_service\n"                                    \
	"	}\n"
#define TABLE(body) "table inet membrane {\n" body "}\n"
#define CHAIN                                                                  \
	"	chain input {\n"                                                     \
	"		type filter hook input priority filter; policy accept;\n"           \
	"		counter accept\n"                                                   \
	"	}\n"
#define LONG                                                                   \
	"a123456789012345678901234567890123456789"                             \
	"0123456789012345678901234567890123456789"

/* Of libnftables: which of its calls finds no memory, or NULL; what no command
 * may have in it, or NULL; how often it was begun with. */
static const char *without, *refused;
static unsigned n_begun;

/* These take the library's place in all of this program. */
struct nft_ctx *nft_ctx_new(uint32_t flags)
{
	static struct nft_ctx *(*real)(uint32_t);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "nft_ctx_new");
	n_begun++;
	return without && strcmp(without, "new") == 0 ? NULL : real(flags);
}

int nft_run_cmd_from_buffer(struct nft_ctx *ctx, const char *command)
{
	static int (*real)(struct nft_ctx *, const char *);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "nft_run_cmd_from_buffer");
	return refused && strstr(command, refused) ? -1 : real(ctx, command);
}

int nft_ctx_buffer_output(struct nft_ctx *ctx)
{
	static int (*real)(struct nft_ctx *);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "nft_ctx_buffer_output");
	return without && strcmp(without, "output") == 0 ? 1 : real(ctx);
}

int nft_ctx_buffer_error(struct nft_ctx *ctx)
{
	static int (*real)(struct nft_ctx *);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "nft_ctx_buffer_error");
	return without && strcmp(without, "error") == 0 ? 1 : real(ctx);
}

static char list[4096];

/* nft's listing of a table; "": there is none. */
static const char *listed(const char *table)
{
	struct nft_ctx *ctx = nft_ctx_new(NFT_CTX_DEFAULT);
	char command[64];

	nft_ctx_buffer_output(ctx);
	nft_ctx_buffer_error(ctx);
	snprintf(command, sizeof(command), "list table %s", table);
	list[0] = '\0';
	if (nft_run_cmd_from_buffer(ctx, command) == 0)
		snprintf(list, sizeof(list), "%s",
			 nft_ctx_get_output_buffer(ctx));
	nft_ctx_free(ctx);
	return list;
}

static bool has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fprintf(stderr, "no '%s' in:\n%s\n", part, text);
	return strstr(text, part) != NULL;
}

/* A word of the kernel's, in one line; nothing of what was asked before it. */
static bool is_refused(int rc)
{
	return rc == -EINVAL && has(err.text, "nft: ") &&
	       has(err.text, "Error: ") && !strchr(err.text, '\n');
}

static void loaded(void)
{
	new_network(false);
	CHECK(is_refused(ruleset_load(STR("table inet {\n"), &err)) &&
	      has(err.text, "syntax error"));
	CHECK(!*listed("inet membrane"));
	CHECK(is_refused(ruleset_verify(STR(RULES), &err)) &&
	      has(err.text, "No such file"));
	CHECK(FINE(ruleset_load(STR(RULES), &err)));
	CHECK(has(listed("inet membrane"), "set host4_1"));
	CHECK(FINE(ruleset_verify(STR(RULES), &err)));
	CHECK(ruleset_load(STR(RULES), &err) == -EEXIST &&
	      has(err.text, "table inet membrane exists already"));
	CHECK(FINE(ruleset_verify(STR(RULES), &err)));
}

/* What the kernel has counted is no difference; all else is. */
static void compared(void)
{
	static const char text[] = TABLE(SETS "\n" CHAIN);

	new_network(false);
	CHECK(FINE(ruleset_load(STR(text), &err)) &&
	      FINE(ruleset_verify(STR(text), &err)));
	CHECK(ruleset_verify(STR(TABLE(SETS)), &err) == -EPROTO);
	CHECK(strcmp(err.text, "line 11: written is '}', the kernel holds "
			       "'chain'") == 0);
	/* so much of a word, and no more */
	CHECK(ruleset_verify(STR("table inet\n" LONG "x {\n"), &err) ==
	      -EPROTO);
	CHECK(strcmp(err.text, "line 2: written is '" LONG
			       "', the kernel holds 'membrane'") == 0);
	new_network(false);
	CHECK(FINE(ruleset_load(STR(TABLE("	set " LONG "x {\n"
					  "		type ipv4_addr\n"
					  "	}\n")),
				&err)));
	CHECK(ruleset_verify(STR("table inet membrane {\n\tset a {\n"), &err) ==
	      -EPROTO);
	CHECK(strcmp(err.text, "line 2: written is 'a', the kernel holds '" LONG
			       "'") == 0);
}

/* A reason of any length comes as far as it has room. */
static void long_reasons(void)
{
	char text[2048] = "";
	size_t n;

	new_network(false);
	for (unsigned i = 0; i < 7; i++)
		strcat(text, LONG);
	strcat(text, " x\n");
	CHECK(is_refused(ruleset_check(str_of(text), &err)));
	n = strlen(err.text);
	CHECK_MSG(n <= 405, "%zu: %s", n, err.text);
}

/* Tried, and nothing of it is there. */
static void tried(void)
{
	new_network(false);
	CHECK(FINE(ruleset_check(STR(RULES), &err)) &&
	      !*listed("inet membrane"));
	CHECK(is_refused(ruleset_check(STR("table inet {\n"), &err)));
	CHECK(is_refused(ruleset_check_next(STR(RULES), &err)) &&
	      has(err.text, "No such file"));
	CHECK(FINE(ruleset_load(STR(RULES), &err)));
	CHECK(FINE(ruleset_check_next(STR(TABLE(CHAIN)), &err)));
	CHECK(is_refused(ruleset_check_next(STR("table inet {\n"), &err)));
	CHECK(FINE(ruleset_verify(STR(RULES), &err)));
}

static void replaced(void)
{
	static const char next[] = TABLE("	set host4_1 {\n"
					 "		type ipv4_addr\n"
					 "		flags timeout\n"
					 "	}\n");

	new_network(false);
	CHECK(is_refused(ruleset_replace(STR(next), STR(""), &err)) &&
	      !*listed("inet membrane"));
	CHECK(FINE(ruleset_load(STR(RULES), &err)));
	/* the one or the other: what is refused changes nothing */
	CHECK(is_refused(ruleset_replace(STR(next),
					 STR("add element inet membrane "
					     "host4_2 { 11.0.0.1 }\n"),
					 &err)));
	CHECK(FINE(ruleset_verify(STR(RULES), &err)));
	CHECK(FINE(ruleset_replace(STR(next),
				   STR("add element inet membrane host4_1 { "
				       "11.0.0.1 timeout 1h }\n"),
				   &err)));
	CHECK(has(listed("inet membrane"), "11.0.0.1 timeout 1h") &&
	      !strstr(list, "chain"));
	/* a text whose last line has no end */
	CHECK(FINE(ruleset_replace((struct str){next, strlen(next) - 1},
				   STR("add element inet membrane host4_1 { "
				       "11.0.0.2 timeout 1h }\n"),
				   &err)));
	CHECK(has(listed("inet membrane"), "11.0.0.2 timeout 1h"));
	/* a text that the kernel lists in other words */
	CHECK(ruleset_replace(
		      STR("table inet membrane {\n\tchain a {\n\t\ttype filter "
			  "hook input priority 0; policy accept;\n\t}\n}\n"),
		      STR(""), &err) == -EPROTO &&
	      has(err.text, "line 3: written is '0;'"));
}

static void tables_beside(void)
{
	static const char one[] = "table inet other {\n\tchain a {\n\t}\n}\n",
			  two[] = "table inet other {\n\tchain b {\n\t}\n}\n";

	new_network(false);
	CHECK(FINE(ruleset_load(STR(RULES), &err)));
	CHECK(FINE(ruleset_put("inet other", STR(one), &err)));
	CHECK(strcmp(listed("inet other"), one) == 0);
	CHECK(FINE(ruleset_put("inet other", STR(two), &err)));
	CHECK(strcmp(listed("inet other"), two) == 0);
	CHECK(is_refused(ruleset_put("inet other", STR("table {"), &err)));
	CHECK(strcmp(listed("inet other"), two) == 0);
	CHECK(FINE(ruleset_drop("inet other", &err)) && !*listed("inet other"));
	CHECK(FINE(ruleset_drop("inet other", &err)) && !*listed("inet other"));
	CHECK(is_refused(ruleset_put("inet other {", STR(two), &err)));
	CHECK(is_refused(ruleset_drop("inet other {", &err)));
	CHECK(FINE(fence_raise(&err)) &&
	      has(listed("inet fence"), "hook output"));
	CHECK(FINE(fence_raise(&err)) && FINE(fence_lift(&err)));
	CHECK(!*listed("inet fence") && FINE(fence_lift(&err)));
	CHECK(FINE(ruleset_verify(STR(RULES), &err)));
}

/* What cannot be begun is not done, and what is listed in other words is not
 * what was wanted. */
static void tables_refused(void)
{
	static const char one[] = "table inet other {\n\tchain a {\n\t}\n}\n",
			  two[] = "table inet other {\n\tchain b {\n\t}\n}\n",
			  odd[] = "table inet other {\n\tchain a {\n\t\ttype "
				  "filter hook input priority 0; policy "
				  "accept;\n\t}\n}\n";

	new_network(false);
	CHECK(FINE(ruleset_put("inet other", STR(one), &err)));
	refused = "add table";
	CHECK(ruleset_put("inet other", STR(two), &err) == -EINVAL &&
	      strcmp(err.text, "nft: no reason given") == 0);
	CHECK(ruleset_drop("inet other", &err) == -EINVAL &&
	      strcmp(err.text, "nft: no reason given") == 0);
	refused = NULL;
	CHECK(strcmp(listed("inet other"), one) == 0);
	CHECK(ruleset_put("inet other", STR(odd), &err) == -EPROTO &&
	      has(err.text, "line 3: written is '0;'"));
}

static struct addr addr_of(const char *text)
{
	struct addr a = {0};

	CHECK(addr_parse(str_of(text), &a));
	return a;
}

static void hosts_of(const char *proxy, const char *resolver,
		     struct names_hosts *out)
{
	*out = (struct names_hosts){.n = 2};
	out->v[0] = addr_of("10.0.0.5");
	out->v[1] = addr_of("fd00::5");
	out->proxy = addr_of(proxy);
	out->proxy_port = 3128;
	out->resolver = addr_of(resolver);
	out->resolver_port = 53;
}

/* Where the text has sets for them, the addresses of the host's. */
static void hosts(void)
{
	static const char all[] =
		TABLE(SETS "\n" PORTS("proxy") "\n" PORTS("resolver"));
	struct arena *a = arena_new();
	struct names_hosts h;
	struct buf text;

	buf_init(&text, a);
	hosts_of("10.0.0.6", "fd00::7", &h);
	ruleset_hosts_text(STR(all), &h, &text);
	CHECK(str_is(buf_str(&text),
		     "add element inet membrane host4 { 10.0.0.5 }\n"
		     "add element inet membrane host6 { fd00::5 }\n"
		     "add element inet membrane proxy4 { 10.0.0.6 . 3128 }\n"
		     "add element inet membrane resolver6 { fd00::7 . 53 }\n"));
	text.n = 0;
	hosts_of("fd00::6", "10.0.0.7", &h);
	ruleset_hosts_text(STR(all), &h, &text);
	CHECK(has(arena_cstr(a, buf_str(&text)),
		  "proxy6 { fd00::6 . 3128 }\n"
		  "add element inet membrane resolver4 { 10.0.0.7 . 53 }\n"));
	text.n = 0;
	ruleset_hosts_text(STR(RULES), &h, &text);
	CHECK(str_is(buf_str(&text),
		     "add element inet membrane host4 { 10.0.0.5 }\n"));
	text.n = 0;
	h.proxy_port = h.resolver_port = 0;
	h.n = 0;
	ruleset_hosts_text(STR(all), &h, &text);
	CHECK(text.n == 0);
	new_network(false);
	/* nothing to do, so nothing that there has to be, and nobody asked */
	n_begun = 0;
	CHECK(FINE(ruleset_hosts(STR(all), &h, &err)) && n_begun == 0);
	hosts_of("10.0.0.6", "10.0.0.7", &h);
	CHECK(FINE(ruleset_hosts(STR(TABLE("")), &h, &err)));
	CHECK(is_refused(ruleset_hosts(STR(all), &h, &err)));
	CHECK(FINE(ruleset_load(STR(all), &err)) &&
	      FINE(ruleset_hosts(STR(all), &h, &err)));
	CHECK(has(listed("inet membrane"), "elements = { 10.0.0.5 }") &&
	      has(list, "elements = { fd00::5 }") &&
	      has(list, "elements = { 10.0.0.6 . 3128 }") &&
	      has(list, "elements = { 10.0.0.7 . 53 }"));
	CHECK(FINE(ruleset_verify(STR(all), &err)));
	arena_free(a);
}

/* What this process has of memory; under sanitizers nothing is said of it. */
static size_t memory(void)
{
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

/* Nothing is kept of what was done. */
static void nothing_kept(void)
{
	static const char one[] = "table inet other {\n\tchain a {\n\t}\n}\n";
	struct names_hosts h;
	size_t before = 0;
	int fd = next_fd();

	new_network(false);
	hosts_of("10.0.0.6", "10.0.0.7", &h);
	CHECK(FINE(ruleset_load(STR(RULES), &err)));
	/* what libraries keep they have from the first time on */
	for (int i = 0; i < 3; i++) {
		before = memory();
		CHECK(FINE(ruleset_hosts(STR(RULES), &h, &err)));
		CHECK(FINE(ruleset_put("inet other", STR(one), &err)));
		CHECK(FINE(ruleset_drop("inet other", &err)));
	}
	CHECK_MSG(memory() == before, "%zu %zu", memory(), before);
	CHECK(next_fd() == fd);
}

/* Without it nothing is taken for done. */
static void no_memory(void)
{
	static const char *const calls[] = {"new", "output", "error"};
	static const char none[] = "libnftables: out of memory";
	int before = next_fd();
	struct names_hosts h;

	new_network(false);
	hosts_of("10.0.0.6", "10.0.0.7", &h);
	CHECK(FINE(ruleset_load(STR(RULES), &err)));
	for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
		without = calls[i];
		CHECK(ruleset_load(STR(RULES), &err) == -ENOMEM &&
		      strcmp(err.text, none) == 0);
		CHECK(ruleset_verify(STR(RULES), &err) == -ENOMEM &&
		      strcmp(err.text, none) == 0);
		CHECK(ruleset_replace(STR(RULES), STR(""), &err) == -ENOMEM &&
		      strcmp(err.text, none) == 0);
		CHECK(ruleset_put("inet other", STR(RULES), &err) == -ENOMEM &&
		      strcmp(err.text, none) == 0);
		CHECK(ruleset_drop("inet other", &err) == -ENOMEM &&
		      strcmp(err.text, none) == 0);
		CHECK(ruleset_check(STR(RULES), &err) == -ENOMEM &&
		      strcmp(err.text, none) == 0);
		CHECK(ruleset_check_next(STR(RULES), &err) == -ENOMEM &&
		      strcmp(err.text, none) == 0);
		CHECK(ruleset_hosts(STR(RULES), &h, &err) == -ENOMEM &&
		      strcmp(err.text, none) == 0);
		CHECK(fence_raise(&err) == -ENOMEM &&
		      strcmp(err.text,
			     "the fence: libnftables: out of memory") == 0);
		CHECK(fence_lift(&err) == -ENOMEM &&
		      strcmp(err.text,
			     "the fence: libnftables: out of memory") == 0);
	}
	without = NULL;
	CHECK(FINE(ruleset_verify(STR(RULES), &err)));
	CHECK(next_fd() == before);
}

int main(void)
{
	if (!enter_room())
		return NOT_HERE;
	loaded();
	compared();
	long_reasons();
	tried();
	replaced();
	tables_beside();
	hosts();
	no_memory();
	nothing_kept();
	tables_refused();
	return check_status();
}
