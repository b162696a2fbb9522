#include "compiler/emit/trace/tracee.h"

#include "compiler/emit/yaml_write.h"
#include "compiler/ir/tracee.h"

struct writer {
	struct yaml_write out;
	const struct emit_in *in;
	unsigned release;
};

/* A word of ours. */
static void put_word(struct writer *w, const char *s)
{
	yaml_write_scalar(&w->out, str_of(s), YAML_PLAIN_SCALAR_STYLE);
}

static void put_text(struct writer *w, struct str s)
{
	yaml_write_scalar(&w->out, s, YAML_DOUBLE_QUOTED_SCALAR_STYLE);
}

static void map_begin(struct writer *w)
{
	yaml_write_map(&w->out, YAML_BLOCK_MAPPING_STYLE);
}

static void list_begin(struct writer *w)
{
	yaml_write_list(&w->out, YAML_BLOCK_SEQUENCE_STYLE);
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
	yaml_write_map_end(&w->out);
	yaml_write_map_end(&w->out);
}

/* "/usr" leaves out itself and all below it. */
static struct str excluded_names(struct writer *w)
{
	struct buf b;

	buf_init(&b, w->in->a);
	buf_adds(&b, "data.pathname!=");
	vec_each(t, &w->in->policy->trace.exclude) {
		struct str path = t->s;

		while (str_ends(path, STR("/")))
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
	yaml_write_scalar(&w->out, e->name, YAML_PLAIN_SCALAR_STYLE);
	if (e->filters.n || exclude) {
		put_word(w, "filters");
		list_begin(w);
		vec_each(f, &e->filters)
			put_filter(w, f->s);
		if (exclude)
			put_filter(w, excluded_names(w));
		yaml_write_list_end(&w->out);
	}
	yaml_write_map_end(&w->out);
}

bool tracee_wanted(const struct ir_policy *p)
{
	return p->trace.engine.v == IR_TRACE_TRACEE;
}

bool tracee_emit(const struct emit_in *in, struct buf *out)
{
	struct writer w = {.in = in, .release = TRACEE_RELEASE_DEFAULT};

	/* Known, or none: passes/trace refuses any other. */
	tracee_release(in->policy->trace.version.v, &w.release);
	yaml_write_begin(&w.out, in->a, out);
	map_begin(&w);
	put_head(&w);
	put_word(&w, "spec");
	map_begin(&w);
	put_word(&w, "scope");
	list_begin(&w);
	put_word(&w, "container=new");
	yaml_write_list_end(&w.out);
	put_word(&w, "rules");
	list_begin(&w);
	vec_each(e, &in->policy->trace.events)
		put_rule(&w, e);
	yaml_write_list_end(&w.out);
	yaml_write_map_end(&w.out);
	yaml_write_map_end(&w.out);
	yaml_write_end(&w.out);
	return true;
}
