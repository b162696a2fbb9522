/* A table that is full says nothing that is another one's. */
#include "compiler/cli/report/parts.h"

#include "tests/check.h"

static void fill(struct arena *a, struct texts *t)
{
	for (uint32_t i = t->v.n; i < TEXTS_MAX; i++)
		CHECK(texts_index(t, arena_fmt(a, "filler %u", i), true) ==
		      i + 1);
}

static void check_kept(struct arena *a)
{
	struct texts *t = arena_new_of(a, struct texts);
	struct str out = {0};

	t->a = a;
	texts_keep(t, STR("first"), &out);
	CHECK(str_is(out, "first"));
	fill(a, t);
	CHECK(t->beyond == 0);
	/* What is there already needs no room. */
	texts_keep(t, STR("filler 7"), &out);
	CHECK(str_is(out, "filler 7") && t->beyond == 0);
	texts_keep(t, STR("another"), &out);
	CHECK(str_is(out, "…") && t->beyond == 1);
	texts_keep(t, STR("first"), &out);
	CHECK(str_is(out, "first") && t->beyond == 1);
}

static void decide(struct places *p, const char *json)
{
	cJSON *o = cJSON_Parse(json);

	places_decision(p, o);
	cJSON_Delete(o);
}

static void check_places(struct arena *a)
{
	struct places *p = arena_new_of(a, struct places);
	struct trace_event *e = arena_new_of(a, struct trace_event);
	const struct goal *x;

	places_init(p, a);
	decide(p,
	       "{\"event\":\"decision\",\"kind\":\"connect\",\"verdict\":\"deny\",\"reason\":\"denied\",\"name\":\"a.test\",\"addr\":\"192.0.2.1\",\"port\":443,\"source\":\"old.yaml\",\"line\":3}");
	fill(a, &p->words);
	decide(p,
	       "{\"event\":\"decision\",\"kind\":\"connect\",\"verdict\":\"deny\",\"reason\":\"denied\",\"name\":\"a.test\",\"addr\":\"192.0.2.1\",\"port\":443,\"source\":\"new.yaml\",\"line\":9}");
	x = &p->v.v[0];
	CHECK(str_is(x->reason, "denied"));
	CHECK(str_is(x->source, "…") && x->line == 9);

	e->name = STR("security_socket_connect");
	e->comm = STR("late");
	e->n = 2;
	e->leaf[0] = (struct trace_leaf){STR("remote_addr.sin_addr"),
					 STR("192.0.2.1"), false};
	e->leaf[1] = (struct trace_leaf){STR("remote_addr.sin_port"),
					 STR("443"), false};
	CHECK(places_event(p, e) == 1);
	CHECK(x->programs == 0 && x->more_programs);
	e->comm = STR("old.yaml"); /* one that is kept */
	CHECK(places_event(p, e) == 1);
	CHECK(x->programs == 1 && str_is(x->program[0], "old.yaml"));
}

int main(void)
{
	struct arena *a = arena_new();

	check_kept(a);
	check_places(a);
	arena_free(a);
	return check_status();
}
