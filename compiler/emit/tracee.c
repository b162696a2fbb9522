#include "compiler/emit/tracee.h"

#include "compiler/ir/tracee.h"

#include <stdio.h>
#include <stdlib.h>
#include <yaml.h>

struct writer {
	yaml_emitter_t yaml;
	const struct emit_in *in;
	unsigned release;
};

static int sink(void *ctx, unsigned char *data, size_t size)
{
	buf_add(ctx, (struct str){(const char *)data, size});
	return 1;
}

/* Out of memory is all that can go wrong: what is emitted is well formed. */
static void check(int ok)
{
	if (ok)
		return;
	fputs("membrane: out of memory\n", stderr);
	exit(3);
}

static void put(struct writer *w, yaml_event_t *e)
{
	check(yaml_emitter_emit(&w->yaml, e));
}

static void put_scalar(struct writer *w, struct str s,
		       yaml_scalar_style_t style)
{
	yaml_event_t e;

	/* libyaml has no const here; it copies the text. */
	char *copy = arena_cstr(w->in->a, s);

	check(yaml_scalar_event_initialize(&e, NULL, NULL, (yaml_char_t *)copy,
					   (int)s.n, 1, 1, style));
	put(w, &e);
}

/* A word of ours. */
static void put_word(struct writer *w, const char *s)
{
	put_scalar(w, str_of(s), YAML_PLAIN_SCALAR_STYLE);
}

static void put_text(struct writer *w, struct str s)
{
	put_scalar(w, s, YAML_DOUBLE_QUOTED_SCALAR_STYLE);
}

static void map_begin(struct writer *w)
{
	yaml_event_t e;

	check(yaml_mapping_start_event_initialize(&e, NULL, NULL, 1,
						  YAML_BLOCK_MAPPING_STYLE));
	put(w, &e);
}

static void map_end(struct writer *w)
{
	yaml_event_t e;

	check(yaml_mapping_end_event_initialize(&e));
	put(w, &e);
}

static void list_begin(struct writer *w)
{
	yaml_event_t e;

	check(yaml_sequence_start_event_initialize(&e, NULL, NULL, 1,
						   YAML_BLOCK_SEQUENCE_STYLE));
	put(w, &e);
}

static void list_end(struct writer *w)
{
	yaml_event_t e;

	check(yaml_sequence_end_event_initialize(&e));
	put(w, &e);
}

static void begin(struct writer *w, struct buf *out)
{
	yaml_event_t e;

	check(yaml_emitter_initialize(&w->yaml));
	yaml_emitter_set_output(&w->yaml, sink, out);
	yaml_emitter_set_unicode(&w->yaml, 1);
	yaml_emitter_set_width(&w->yaml, -1);
	check(yaml_stream_start_event_initialize(&e, YAML_UTF8_ENCODING));
	put(w, &e);
	check(yaml_document_start_event_initialize(&e, NULL, NULL, NULL, 1));
	put(w, &e);
}

static void end(struct writer *w)
{
	yaml_event_t e;

	check(yaml_document_end_event_initialize(&e, 1));
	put(w, &e);
	check(yaml_stream_end_event_initialize(&e));
	put(w, &e);
	yaml_emitter_delete(&w->yaml);
}

static void put_head(struct writer *w)
{
	put_word(w, "apiVersion");
	put_word(w, "tracee.aquasec.com/v1beta1");
	put_word(w, "kind");
	put_word(w, "Policy");
	put_word(w, "metadata");
	map_begin(w);
	put_word(w, "name");
	put_word(w, "membrane-agent");
	put_word(w, "annotations");
	map_begin(w);
	put_word(w, "description");
	put_text(w, STR("what the agent's container does"));
	map_end(w);
	map_end(w);
}

/* "/usr" leaves out itself and all below it. */
static struct str excluded(struct writer *w)
{
	struct buf b;

	buf_init(&b, w->in->a);
	buf_adds(&b, "data.pathname!=");
	vec_each(t, &w->in->policy->trace.exclude) {
		struct str path = t->s;

		while (path.n > 1 && str_ends(path, STR("/")))
			path.n--;
		if (t != w->in->policy->trace.exclude.v)
			buf_addc(&b, ',');
		buf_add(&b, path);
		buf_addc(&b, ',');
		buf_add(&b, path);
		buf_adds(&b, "/*");
	}
	return buf_str(&b);
}

/* In the spelling of the release that reads it. */
static void put_filter(struct writer *w, struct str s)
{
	if (w->release < TRACEE_RELEASE_DATA && str_starts(s, STR("data.")))
		s = arena_fmt(w->in->a, "args.%.*s",
			      STR_ARG(str_slice(s, 5, s.n)));
	put_text(w, s);
}

static void put_rule(struct writer *w, const struct ir_trace_event *e)
{
	const struct tracee_event *known = tracee_event_named(e->name);
	bool exclude = w->in->policy->trace.exclude.n && known &&
		       tracee_has_path(known);

	map_begin(w);
	put_word(w, "event");
	put_scalar(w, e->name, YAML_PLAIN_SCALAR_STYLE);
	if (e->filters.n || exclude) {
		put_word(w, "filters");
		list_begin(w);
		vec_each(f, &e->filters)
			put_filter(w, f->s);
		if (exclude)
			put_filter(w, excluded(w));
		list_end(w);
	}
	map_end(w);
}

bool tracee_wanted(const struct ir_policy *p)
{
	/* Tracee refuses a policy without rules. */
	return p->trace.events.n && p->trace.engine.set &&
	       p->trace.engine.v == IR_TRACE_TRACEE;
}

bool tracee_emit(const struct emit_in *in, struct buf *out)
{
	struct writer w = {.in = in, .release = TRACEE_RELEASE_DEFAULT};

	/* Known: passes/trace refuses any other. */
	if (in->policy->trace.version.set)
		tracee_release(in->policy->trace.version.v, &w.release);
	begin(&w, out);
	map_begin(&w);
	put_head(&w);
	put_word(&w, "spec");
	map_begin(&w);
	put_word(&w, "scope");
	list_begin(&w);
	put_word(&w, "container=new");
	list_end(&w);
	put_word(&w, "rules");
	list_begin(&w);
	vec_each(e, &in->policy->trace.events)
		put_rule(&w, e);
	list_end(&w);
	map_end(&w);
	map_end(&w);
	end(&w);
	return true;
}
