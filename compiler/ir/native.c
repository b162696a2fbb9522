#include "compiler/ir/native.h"

enum { FULL = 0, DEFAULT = 1, SOMEWHERE = 2 };

static const struct native_event events[] = {
#define EVENT(name, set) {#name, (set)&DEFAULT, ((set)&SOMEWHERE) != 0},
#define CALL(...)
#define ARG(...)
#define FIELD(...)
#include "grammar/native-events.def"
#undef EVENT
#undef CALL
#undef FIELD
#undef ARG
};

const struct native_event *native_event_at(size_t i)
{
	return i < ARRAY_LEN(events) ? &events[i] : NULL;
}

const struct native_event *native_event_named(struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(events); i++)
		if (str_is(name, events[i].name))
			return &events[i];
	return NULL;
}

bool native_field(struct str name)
{
	static const char *const fields[] = {
#define EVENT(...)
#define CALL(...)
#define ARG(...)
#define FIELD(name, id) #name,
#include "grammar/native-events.def"
#undef EVENT
#undef CALL
#undef FIELD
#undef ARG
	};

	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		if (str_is(name, fields[i]))
			return true;
	return false;
}
