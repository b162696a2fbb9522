#include "runtime/watch/events.h"

#include <seccomp.h>
#include <string.h>

static const struct watch_arg args[] = {
#define WATCH_ARG(name, type) {name, type},
#define WATCH_EVENT(name, id, first, n)
#include "grammar/native-events.inc"
#undef WATCH_ARG
#undef WATCH_EVENT
};

static const struct watch_event_info infos[] = {
#define WATCH_ARG(name, type)
#define WATCH_EVENT(name, id, first, n) {name, #id, n, args + (first)},
#include "grammar/native-events.inc"
#undef WATCH_ARG
#undef WATCH_EVENT
};

_Static_assert(ARRAY_LEN(infos) == WATCH_EVENTS,
	       "one table is of another native-events.def");

const struct watch_event_info *events_info(enum watch_event e)
{
	return &infos[e];
}

bool events_is_asked(enum watch_event e)
{
	enum { FULL = 0, DEFAULT = 1, SOMEWHERE = 2, ASKED = 4 };
	static const unsigned sets[] = {
#define EVENT(name, set) set,
#define CALL(...)
#define ARG(...)
#define FIELD(...)
#include "grammar/native-events.def"
#undef EVENT
#undef CALL
#undef FIELD
#undef ARG
	};

	return sets[e] & ASKED;
}

bool events_find(struct str name, enum watch_event *out)
{
	for (unsigned i = 0; i < WATCH_EVENTS; i++)
		if (str_is(name, infos[i].name)) {
			*out = (enum watch_event)i;
			return true;
		}
	return false;
}

/* Names in native-events.def of what event.h calls by longer ones. */
enum {
	MISSING = WATCH_NO_MISSING,
	RETRY = WATCH_NO_RETRY,
	DATAGRAM = WATCH_DATAGRAM,
	QUESTION = WATCH_QUESTION,
	FAILED = WATCH_ONLY_FAILED,
};

static const struct events_call known[] = {
#define EVENT(name, set)
#define ARG(...)
#define FIELD(...)
#define CALL(name, event, how, a, b, c, d, flags)                              \
	{#name, WATCH_EVENT_##event, {WATCH_##how, flags, a, b, c, d}},
#include "grammar/native-events.def"
#undef EVENT
#undef CALL
#undef FIELD
#undef ARG
};

/* What the library may not know yet. */
static const struct {
	const char *name;
	int nr; /* on all machines: include/uapi/asm-generic/unistd.h */
} newer[] = {{"fchmodat2", 452}, {"open_tree_attr", 467}};

int events_call_number(const char *name)
{
	int nr = seccomp_syscall_resolve_name(name);

	for (size_t i = 0; nr < 0 && i < ARRAY_LEN(newer); i++)
		if (strcmp(newer[i].name, name) == 0)
			return newer[i].nr;
	for (size_t i = 0; nr < 0 && i < ARRAY_LEN(known); i++)
		if (strcmp(known[i].name, name) == 0)
			return (int)(WATCH_NUMBERS + i);
	return nr;
}

const struct events_call *events_calls(void)
{
	static struct events_call table[WATCH_CALLS_MAX];
	static bool made;

	for (size_t i = 0; !made && i < ARRAY_LEN(known); i++) {
		int nr = events_call_number(known[i].name);

		if (nr < (int)WATCH_CALLS_MAX)
			table[nr] = known[i];
	}
	made = true;
	return table;
}

const char *events_call_name(unsigned nr)
{
	static char *names[WATCH_CALLS_MAX];

	if (nr >= WATCH_CALLS_MAX)
		return "";
	if (nr >= WATCH_NUMBERS)
		return nr - WATCH_NUMBERS < ARRAY_LEN(known)
			       ? known[nr - WATCH_NUMBERS].name
			       : "";
	for (size_t i = 0; i < ARRAY_LEN(newer); i++)
		if (newer[i].nr == (int)nr)
			return newer[i].name;
	/* Kept: there are so many calls and no more. */
	if (!names[nr])
		names[nr] = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE,
							     (int)nr);
	return names[nr] ? names[nr] : "";
}
