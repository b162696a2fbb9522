/* `membrane check`: is a written plan what the policy compiles to? */
#include "compiler/cli/cluster/cluster.h"
#include "compiler/cli/review/proof.h"
#include "compiler/cli/review/sealed.h"
#include "compiler/cli/text/console.h"
#include "compiler/cli/workspace/inputs.h"

/* What was asked for besides; NULL: nothing was. */
static const struct prove_out *prove_sealed(const struct options *o,
					    const struct sealed *s,
					    const struct compilation *c,
					    struct prove_out *room)
{
	if (!options_get(o, OPTION_PROVE) || s->is_missing)
		return NULL;
	proof_make(c, &s->old, room);
	return room;
}

static void show_proof(const struct sealed *s, const struct compilation *c,
		       const struct prove_out *proof)
{
	struct buf report;
	struct view v = {&report, console_width(STDERR_FILENO),
			 console_colour(STDERR_FILENO)};

	buf_init(&report, s->a);
	proof_complain(&v, c, s->dir, proof);
	buf_cut(&report, report.n - 1);
	console_error("%s", report.p);
}

static int show_current(const struct sealed *s, const struct prove_out *proof)
{
	struct buf out;
	struct view v = {&out, console_width(STDOUT_FILENO), false};

	buf_init(&out, s->a);
	buf_addf(&out, "%s is what the policy says\n", s->dir.p);
	if (proof)
		proof_view(&v, proof);
	return console_result(buf_str(&out));
}

/* It differs: how, and whether what it does is the same. */
static void show_stale(const struct sealed *s, const struct prove_out *proof)
{
	struct buf report;
	struct view v = {&report, console_width(STDERR_FILENO),
			 console_colour(STDERR_FILENO)};

	buf_init(&report, s->a);
	sealed_view(&v, s, VIEW_ALL_JSON);
	if (proof && proof->end == PROVE_AGREES) {
		buf_adds(&report, "  ");
		proof_view(&v, proof);
	}
	console_error(
		"%s  'membrane compile' writes what the policy says; review it",
		report.p);
}

static int show_sealed(const struct options *o, const struct sealed *s,
		       const struct compilation *c)
{
	struct prove_out room;
	const struct prove_out *proof = prove_sealed(o, s, c, &room);
	bool good = s->is_current && (!proof || proof->end == PROVE_AGREES);
	int status;

	if (options_get(o, OPTION_JSON)) {
		status = console_result(
			sealed_json(s, proof ? proof_json(c, proof) : NULL));
		return status == STATUS_OK && !good ? STATUS_REFUSED : status;
	}
	if (proof && proof->end != PROVE_AGREES)
		show_proof(s, c, proof);
	if (!s->is_current)
		show_stale(s, proof);
	if (good)
		return show_current(s, proof);
	return STATUS_REFUSED;
}

static int compare_sealed(const struct options *o, const struct inputs *in,
			  struct compilation *c)
{
	const char *dir = o->words.n ? arena_cstr(c->a, o->words.v[0]) : NULL;
	struct sealed s = {0};
	struct err err;
	int status;

	if ((!dir && sealed_default(c->a, in->workspace, &dir, &err) < 0) ||
	    sealed_compare(dir, in, c, &s, &err) < 0) {
		console_error("%s", view_cleaned(c->a, str_of(err.text)).p);
		return STATUS_IO;
	}
	status = show_sealed(o, &s, c);
	sealed_done(&s);
	return status;
}

int command_check(struct arena *a, const struct options *o)
{
	struct compilation c = {0};
	struct inputs in;
	bool fault = false, cluster = cluster_wanted(o, &fault);
	int status = fault ? STATUS_USAGE
			   : inputs_compile(a, o, false, &in, &c);

	if (status == STATUS_OK)
		status = cluster ? cluster_check(o, &c)
				 : compare_sealed(o, &in, &c);
	if (status == STATUS_OK && inputs_denied(o, &c, false))
		status = STATUS_REFUSED;
	driver_done(&c);
	return status;
}
