/*
 * Profiles that calls_read() does not take, each with the one thing that is
 * wrong with it, and what it says. Those that it takes are oracle/calls's.
 */
#include "compiler/algebra/compare/calls.h"
#include "compiler/base/json.h"
#include "compiler/base/limits.h"

#include "tests/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* In the place of quotes, which would all have to be escaped here, is '. */
#define ENTRY(text)                                                            \
	"{'defaultAction': 'SCMP_ACT_ERRNO', 'archMap': [], 'syscalls': ["     \
	"{'names': ['a'], 'action': 'SCMP_ACT_ALLOW'}, " text "]}"
#define CONDITION(text)                                                        \
	ENTRY("{'names': ['b'], 'action': 'SCMP_ACT_ALLOW', 'args': [" text    \
	      "]}")
#define KERNEL(text)                                                           \
	ENTRY("{'names': ['b'], 'action': 'SCMP_ACT_ALLOW', 'includes': " text \
	      "}")
#define MACHINE(text)                                                          \
	"{'defaultAction': 'SCMP_ACT_ERRNO', 'archMap': [" text                \
	"], 'syscalls': []}"

static const struct {
	const char *profile, *said; /* NULL: it is taken */
} cases[] = {
	{ENTRY("{'names': ['b'], 'action': 'SCMP_ACT_LOG', 'comment': ''}"),
	 NULL},
	{"[]", "an object is wanted"},
	{"{'defaultAction': 'SCMP_ACT_ERRNO', 'archMap': [], 'syscalls': [],"
	 " 'flags': []}",
	 "unknown key 'flags'"},
	{"{'defaultAction': 'SCMP_ACT_ERRNO', 'archMap': [], 'archMap': [],"
	 " 'syscalls': []}",
	 "twice the key 'archMap'"},
	{"{'archMap': [], 'syscalls': []}", "no text: 'defaultAction'"},
	{"{'defaultAction': 'SCMP_ACT_ERRNO', 'defaultErrnoRet': 4096,"
	 " 'archMap': [], 'syscalls': []}",
	 "no number that can be used: 'defaultErrnoRet'"},
	{"{'defaultAction': 'SCMP_ACT_ERRNO', 'defaultErrnoRet': 4095,"
	 " 'archMap': [], 'syscalls': []}",
	 NULL},
	{"{'defaultAction': 'SCMP_ACT_NOTIFY', 'archMap': [], 'syscalls': []}",
	 "unknown action 'SCMP_ACT_NOTIFY'"},
	{"{'defaultAction': 'SCMP_ACT_ERRNO', 'syscalls': []}",
	 "no list: 'archMap'"},
	{"{'defaultAction': 'SCMP_ACT_ERRNO', 'archMap': []}",
	 "no list: 'syscalls'"},
	/* Machines. */
	{MACHINE("{'architecture': 'A', 'subArchitectures': ['B']}"), NULL},
	{MACHINE("'A'"), "an object is wanted"},
	{MACHINE("{'subArchitectures': []}"), "no text: 'architecture'"},
	{MACHINE("{'architecture': 'A', 'subArchitectures': 'B'}"),
	 "no list: 'subArchitectures'"},
	{MACHINE("{'architecture': 'A', 'subArchitectures': [1]}"),
	 "an architecture is no text"},
	/* Entries. */
	{ENTRY("'b'"), "entry 2: an object is wanted"},
	{ENTRY("{'name': 'b', 'action': 'SCMP_ACT_ALLOW'}"),
	 "entry 2: unknown key 'name'"},
	{ENTRY("{'action': 'SCMP_ACT_ALLOW'}"), "entry 2: no list: 'names'"},
	{ENTRY("{'names': ['b']}"), "entry 2: no text: 'action'"},
	{ENTRY("{'names': ['b'], 'action': 'SCMP_ACT_ERRNO', 'errnoRet': -1}"),
	 "entry 2: no number that can be used: 'errnoRet'"},
	{ENTRY("{'names': ['b'], 'action': 'SCMP_ACT_ALLOW', 'args': {}}"),
	 "entry 2: no list: 'args'"},
	{ENTRY("{'names': ['b', 1], 'action': 'SCMP_ACT_ALLOW'}"),
	 "entry 2: a name is no text"},
	{ENTRY("{'names': [''], 'action': 'SCMP_ACT_ALLOW'}"),
	 "entry 2: a name is no text"},
	/* Conditions. */
	{CONDITION("{'index': 5, 'value': 3, 'valueTwo': 2, "
		   "'op': 'SCMP_CMP_MASKED_EQ'}"),
	 NULL},
	{CONDITION("{'index': 5, 'value': 1, 'valueTwo': 2, "
		   "'op': 'SCMP_CMP_MASKED_EQ'}"),
	 "entry 2: a condition has bits beside its mask"},
	{CONDITION("{'index': 5, 'value': 1, 'valueTwo': 2, "
		   "'op': 'SCMP_CMP_EQ'}"),
	 NULL},
	{CONDITION("1"), "entry 2: an object is wanted"},
	{CONDITION("{'index': 6, 'op': 'SCMP_CMP_EQ'}"),
	 "entry 2: no number that can be used: 'index'"},
	{CONDITION("{'value': 0, 'op': 'SCMP_CMP_EQ'}"),
	 "entry 2: a condition without an index"},
	{CONDITION("{'index': 0, 'value': '0', 'op': 'SCMP_CMP_EQ'}"),
	 "entry 2: no number that can be used: 'value'"},
	{CONDITION("{'index': 0, 'valueTwo': [], 'op': 'SCMP_CMP_EQ'}"),
	 "entry 2: no number that can be used: 'valueTwo'"},
	{CONDITION("{'index': 0, 'value': 0}"), "entry 2: no text: 'op'"},
	{CONDITION("{'index': 0, 'value': 0, 'op': 'SCMP_CMP_IN'}"),
	 "entry 2: unknown operator 'SCMP_CMP_IN'"},
	{CONDITION("{'index': 0, 'op': 'SCMP_CMP_GE'}, "
		   "{'index': 0, 'value': 9, 'op': 'SCMP_CMP_LE'}"),
	 "entry 2: two conditions of one argument, which runtimes do not agree on"},
	/* Releases. */
	{KERNEL("{'minKernel': '4.8'}"), NULL},
	{KERNEL("'4.8'"), "entry 2: an object is wanted"},
	{KERNEL("{'minKernel': 4.8}"), "entry 2: no text: 'minKernel'"},
	{KERNEL("{'minKernel': '4'}"), "entry 2: minKernel is no release"},
	{KERNEL("{'minKernel': '4.x'}"), "entry 2: minKernel is no release"},
	{KERNEL("{'minKernel': '4.8.1'}"), "entry 2: minKernel is no release"},
	/* Of two answers of which either may hold, for whichever name. */
	{ENTRY("{'names': ['b'], 'action': 'SCMP_ACT_ALLOW'}, "
	       "{'names': ['b'], 'action': 'SCMP_ACT_LOG'}"),
	 "two entries about 'b' contradict each other"},
	{ENTRY("{'names': ['a'], 'action': 'SCMP_ACT_ALLOW'}"), NULL},
	{ENTRY("{'names': ['a'], 'action': 'SCMP_ACT_ERRNO'}"),
	 "two entries about 'a' contradict each other"},
	{ENTRY("{'names': ['b'], 'action': 'SCMP_ACT_ALLOW'}, "
	       "{'names': ['c'], 'action': 'SCMP_ACT_LOG'}"),
	 NULL},
	{CONDITION("{'index': 0, 'value': 1, 'op': 'SCMP_CMP_EQ'}]}, "
		   "{'names': ['b'], 'action': 'SCMP_ACT_LOG', 'args': ["
		   "{'index': 0, 'value': 2, 'op': 'SCMP_CMP_EQ'}"),
	 NULL},
	/* What is no JSON. */
	{MACHINE("") "\n x", "2:2: no JSON"},
};

static struct str quoted(struct arena *a, const char *text)
{
	char *p = arena_cstr(a, str_of(text));

	for (char *c = p; *c; c++)
		if (*c == '\'')
			*c = '"';
	return str_of(p);
}

static void check_too_long(struct arena *a)
{
	size_t n = LIMIT_SOURCE_BYTES + 1;
	struct calls calls;
	struct str text = quoted(a, cases[0].profile);
	char *p = arena_alloc(a, n);
	struct err err;

	memset(p, ' ', n);
	memcpy(p, text.p, text.n);
	CHECK(calls_read(a, (struct str){p, n}, &calls, &err) == -E2BIG);
	CHECK(calls_read(a, (struct str){p, n - 1}, &calls, &err) == 0);
}

/* What cJSON has of memory. */
static size_t held;

static void *hold_memory(size_t n)
{
	void *p = malloc(n);

	held += p != NULL;
	return p;
}

static void release_memory(void *p)
{
	held -= p != NULL;
	free(p);
}

int main(void)
{
	cJSON_Hooks hooks = {hold_memory, release_memory};
	struct arena *a = arena_new();

	cJSON_InitHooks(&hooks);

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct calls calls = {.rules.n = 99};
		struct err err = {0};
		int rc = calls_read(a, quoted(a, cases[i].profile), &calls,
				    &err);

		CHECK_MSG(rc == (cases[i].said ? -EPROTO : 0) &&
				  (!cases[i].said ||
				   strcmp(err.text, cases[i].said) == 0),
			  "%s: %s", cases[i].profile, err.text);
		CHECK((rc == 0) == (calls.rules.n != 99));
	}
	check_too_long(a);
	/* The tree of a profile is gone with it, whether it was taken or not.
	 */
	CHECK_MSG(held == 0, "%zu", held);
	arena_free(a);
	return check_status();
}
