#include "compiler/ir/tracee.h"

#include <string.h>

static const struct tracee_arg args[] = {
#define TRACEE_ARG(name, shape, flags, since, last)                            \
	{name, TRACEE_##shape, flags, since, last},
#define TRACEE_EVENT(name, kind, sets, first, n, since, last)
#include "grammar/tracee-events.inc"
#undef TRACEE_ARG
#undef TRACEE_EVENT
};

static const struct tracee_event events[] = {
#define TRACEE_ARG(name, shape, flags, since, last)
#define TRACEE_EVENT(name, kind, sets, first, n, since, last)                  \
	{name, TRACEE_##kind, sets, first, n, since, last},
#include "grammar/tracee-events.inc"
#undef TRACEE_ARG
#undef TRACEE_EVENT
};

bool tracee_release(struct str version, unsigned *out)
{
	uint64_t part[3] = {0};
	struct str field;
	size_t n = 0;

	while (n < 3 && str_field(&version, '.', &field))
		if (!str_u64(field, 99, &part[n++]))
			return false;
	if (n < 3 || version.n)
		return false;
	*out = (unsigned)(part[0] * 10000 + part[1] * 100 + part[2]);
	return true;
}

const struct tracee_event *tracee_event_at(size_t i)
{
	return i < ARRAY_LEN(events) ? &events[i] : NULL;
}

const struct tracee_event *tracee_event_named(struct str name)
{
	size_t lo = 0, hi = ARRAY_LEN(events);

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int c = str_cmp(name, str_of(events[mid].name));

		if (c == 0)
			return &events[mid];
		if (c < 0)
			hi = mid;
		else
			lo = mid + 1;
	}
	return NULL;
}

bool tracee_event_in_set(const struct tracee_event *e, struct str set)
{
	struct str sets = str_of(e->sets), one;

	while (str_field(&sets, ',', &one))
		if (one.n && str_eq(one, set))
			return true;
	return false;
}

const struct tracee_arg *tracee_arg_at(const struct tracee_event *e, size_t i)
{
	return i < e->n_args ? &args[e->first + i] : NULL;
}

const struct tracee_arg *tracee_arg_named(const struct tracee_event *e,
					  struct str name, unsigned release)
{
	const struct tracee_arg *arg;

	for (size_t i = 0; (arg = tracee_arg_at(e, i)); i++)
		if (str_is(name, arg->name) && arg->since <= release &&
		    release <= arg->last)
			return arg;
	return NULL;
}

bool tracee_has_path(const struct tracee_event *e)
{
	static const char *const starts[] = {
		"sched_process_exec",
		"security_bprm_check",
		"execve",
		"execveat",
		"load_elf_phdrs",
		"process_execute_failed",
	};
	const struct tracee_arg *arg =
		tracee_arg_named(e, STR("pathname"), TRACEE_RELEASE_DEFAULT);

	for (size_t i = 0; i < ARRAY_LEN(starts); i++)
		if (strcmp(e->name, starts[i]) == 0)
			return false;
	return arg && arg->shape == TRACEE_STRING &&
	       !(arg->flags & TRACEE_NO_MOUNT);
}
