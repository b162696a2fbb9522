/* The bound before the start: what may be learned, or that nothing says so. */
#include "compiler/cli/learn/learn.h"

#include "compiler/cli/init/signs.h"
#include "compiler/cli/text/console.h"
#include "compiler/cli/text/view.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define SHOWN 8u /* grants of one bound */

static bool says_nothing(const struct ir_policy *p)
{
	vec_each(g, &p->allow)
		if (g->from.layer != LAYER_FLOOR)
			return false;
	return p->ask.n == 0;
}

/* What speaks for a preset in this folder; else a destination, to be said. */
static void add_proposal(struct arena *a, const struct inputs *in,
			 struct buf *out)
{
	struct proposal d = {.a = a};
	auto_fd int dir =
		open(in->workspace, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dir >= 0)
		signs_find(dir, &d);
	vec_each(x, &d.keys[PROPOSAL_EXTENDS]) {
		buf_addf(out, " " SOURCE_WITHIN " ");
		view_shell_word(out, x->text);
	}
	if (d.keys[PROPOSAL_EXTENDS].n == 0)
		buf_adds(out, " " SOURCE_WITHIN " NAME.example:443");
}

static bool refuse_unbound(struct arena *a, const struct options *o,
			   const struct inputs *in)
{
	struct buf b;

	buf_init(&b, a);
	add_proposal(a, in, &b);
	buf_adds(&b, " --");
	for (char *const *w = o->exec; w && *w; w++) {
		buf_addc(&b, ' ');
		view_shell_word(&b, str_of(*w));
	}
	console_error(
		"nothing says within what to learn: the policy allows nothing, and asks about nothing\n"
		"  membrane learn%s\n"
		"  'membrane presets' lists what else a bound can be",
		view_cleaned(a, buf_str(&b)).p);
	return false;
}

/* Is the grant of that line of the bound, or of the preset that it names? */
static bool is_of(const struct compilation *c, const struct ir_grant *g,
		  struct str word, uint32_t line)
{
	struct place at = sources_place(&c->sources, g->from.at);

	if (!at.source)
		return false;
	if (str_is(at.source->name, SOURCE_WITHIN))
		return at.line == line;
	return str_eq(at.source->name, word);
}

/* By denials, all of it: so it stays. */
static bool is_denied(const struct compilation *c, const struct ir_grant *g)
{
	return c->denied && c->denied[g - c->policy.allow.v];
}

static struct str grants_of(struct compilation *c, struct str word,
			    uint32_t line)
{
	uint32_t n = 0;
	struct buf b;

	buf_init(&b, c->a);
	vec_each(g, &c->policy.allow) {
		if (!is_of(c, g, word, line))
			continue;
		if (n++ < SHOWN)
			buf_addf(&b, "%s%.*s%s", n > 1 ? ", " : "",
				 STR_ARG(view_cleaned(c->a, g->canon)),
				 is_denied(c, g) ? " (denied)" : "");
	}
	if (n > SHOWN)
		buf_addf(&b, " and %u more", n - SHOWN);
	return n ? buf_str(&b) : STR("nothing that the policy has not");
}

static void show_one(const struct view *v, struct compilation *c,
		     struct str value, uint32_t line)
{
	size_t slash = str_find(value, '/', 0);
	struct str base =
		slash < value.n ? str_slice(value, slash + 1, value.n) : value;
	struct str word = arena_fmt(c->a, SOURCE_WITHIN " %.*s", STR_ARG(base));

	buf_addf(v->out, "  " SOURCE_WITHIN " %.*s: ",
		 STR_ARG(view_cleaned(c->a, value)));
	view_wrap(v, 2, 6, grants_of(c, word, line));
}

bool learn_bound_show(const struct options *o, const struct inputs *in,
		      struct compilation *c)
{
	struct buf out;
	struct view v = {&out, console_width(STDERR_FILENO),
			 console_colour(STDERR_FILENO)};
	uint32_t line = 0;

	if (in->front.n_within == 0 && says_nothing(&c->policy))
		return refuse_unbound(c->a, o, in);
	buf_init(&out, c->a);
	if (in->front.n_within == 0)
		buf_adds(
			&out,
			"  what the policy allows and asks about; --within adds to it\n");
	for (size_t i = 0; i < in->front.n_within; i++)
		show_one(&v, c, in->front.within[i], ++line);
	console_error("learning, within:");
	fwrite(out.p, 1, out.n, stderr);
	return true;
}
