/* A difference of two policies, for a forge's code scanning: SARIF 2.1.0. */
#include "compiler/base/ascii.h"
#include "compiler/base/json.h"
#include "compiler/base/sha256.h"
#include "compiler/cli/review/diff.h"
#include "version.h"

/* SARIF 2.1.0; the section numbers below are its own. */
#define SCHEMA "https://json.schemastore.org/sarif-2.1.0.json"

#define RULE_FORGED (ACCESS_OTHER + 1)
#define RULE_PLACE  (ACCESS_OTHER + 2)

/* In the order of enum access_way: ruleIndex. */
static const struct {
	const char *id, *name, *text, *level;
} rules[] = {
	[ACCESS_GAINED] = {"access-gained", "AccessGained",
			   "The policy permits requests that it refused",
			   "warning"},
	[ACCESS_LOST] = {"access-lost", "AccessLost",
			 "The policy refuses requests that it permitted",
			 "note"},
	[ACCESS_OTHER] =
		{"access-changed", "AccessChanged",
		 "What the policy permits is neither more nor less than before",
		 "warning"},
	[RULE_FORGED] =
		{"plan-forged", "PlanForged",
		 "The artefacts of a plan do not follow from its policy.json",
		 "error"},
	[RULE_PLACE] = {"third-party-reached", "ThirdPartyReached",
			"Somebody else can now read what is sent there",
			"warning"},
};

static cJSON *text_object(struct str text)
{
	cJSON *o = json_object();

	json_put_str(o, "text", text);
	return o;
}

static cJSON *driver_rules(void)
{
	cJSON *list = json_array();

	for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
		cJSON *o = json_object(), *config = json_object();

		json_put_cstr(o, "id", rules[i].id);
		json_put_cstr(o, "name", rules[i].name);
		json_put(o, "shortDescription",
			 text_object(str_of(rules[i].text)));
		json_put_cstr(config, "level", rules[i].level);
		json_put(o, "defaultConfiguration", config);
		json_push(list, o);
	}
	return list;
}

/* A reference as RFC 3986 has it: 3.4.3. */
static struct str uri_text(struct arena *a, struct str path)
{
	struct buf b;

	buf_init(&b, a);
	if (str_starts(path, STR("/")))
		buf_adds(&b, "file://");
	for (size_t i = 0; i < path.n; i++) {
		char c = path.p[i];

		if (ascii_is_unreserved(c) || c == '/')
			buf_addc(&b, c);
		else
			buf_addf(&b, "%%%02X", (unsigned char)c);
	}
	return buf_str(&b);
}

/* Where line is 0, the file as a whole: 3.29. */
static cJSON *location_json(struct arena *a, struct str file, uint32_t line)
{
	cJSON *o = json_object(), *physical = json_object();
	cJSON *artifact = json_object(), *region = json_object();

	json_put_str(artifact, "uri", uri_text(a, file));
	json_put(physical, "artifactLocation", artifact);
	json_put_u64(region, "startLine", line ? line : 1);
	json_put(physical, "region", region);
	json_put(o, "physicalLocation", physical);
	return o;
}

/* The file of a side that a place is in, without the revision; false for what
 * is no file of that side. */
static bool file_of(const struct operand *s, const struct place *at,
		    struct str *out)
{
	enum layer own =
		s->kind == OPERAND_WORKSPACE ? LAYER_WORKSPACE : LAYER_GLOBAL;

	if (!at->source || at->source->layer != own ||
	    !str_starts(at->source->name, s->revision) ||
	    source_is_preset(at->source))
		return false;
	*out = str_slice(at->source->name, s->revision.n, at->source->name.n);
	return true;
}

/*
 * What the new side is blamed for stands in it, or would: for a rule of the old
 * one, or of a preset, that is its main file; where the rule stood comes along.
 */
static void put_locations(cJSON *o, const struct diff *d,
			  const struct access_change *c,
			  const struct changes_words *w)
{
	cJSON *list = json_array(), *related = json_array();
	struct str file;

	if (!c->why_old && file_of(d->now, &w->at, &file))
		json_push(list, location_json(d->a, file, w->at.line));
	else
		json_push(list, location_json(d->a, d->now->file, 0));
	json_put(o, "locations", list);
	if (c->why_old && file_of(d->old, &w->at, &file)) {
		cJSON *was = location_json(d->a, file, w->at.line);

		json_put_u64(was, "id", 1);
		json_put(
			was, "message",
			text_object(arena_fmt(d->a, "in %s", d->old->label.p)));
		json_push(related, was);
	}
	if (cJSON_GetArraySize(related))
		json_put(o, "relatedLocations", related);
	else
		cJSON_Delete(related);
}

/* The same change has the same print, wherever lines move to: 3.27.17. */
static void put_print(cJSON *o, struct str what)
{
	cJSON *prints = json_object();
	char hex[SHA256_HEX_MAX];

	json_put_cstr(prints, "membraneAccess/v1", sha256_hex(what, hex));
	json_put(o, "partialFingerprints", prints);
}

/* Text that is no link and no placeholder: 3.11.5, 3.11.6. */
static struct str escaped_text(struct arena *a, struct str text)
{
	struct buf b;

	buf_init(&b, a);
	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];

		if (c == '[' || c == ']' || c == '\\')
			buf_addc(&b, '\\');
		if (c == '{' || c == '}')
			buf_addc(&b, c);
		buf_addc(&b, c);
	}
	return buf_str(&b);
}

static cJSON *result_of(const struct diff *d, uint32_t rule, struct str text)
{
	cJSON *o = json_object();

	json_put_cstr(o, "ruleId", rules[rule].id);
	json_put_u64(o, "ruleIndex", rule);
	json_put_cstr(o, "level", rules[rule].level);
	json_put(o, "message", text_object(escaped_text(d->a, text)));
	return o;
}

static cJSON *change_result(const struct diff *d, const struct access_change *c)
{
	struct changes_words w = changes_words(&d->access, c);
	struct buf b;
	cJSON *o;

	buf_init(&b, d->a);
	buf_addf(&b, "%s: %s", changes_way_name(c->way), w.text.p);
	if (w.request.n)
		buf_addf(&b, "; for example '%s' (%s → %s)", w.request.p, w.was,
			 w.is);
	if (w.rule.n)
		buf_addf(&b, "; %s '%s'", c->why_old ? "no longer:" : "by",
			 w.rule.p);
	o = result_of(d, c->way, buf_str(&b));
	put_locations(o, d, c, &w);
	put_print(o, arena_fmt(d->a, "%s %s %s", changes_way_name(c->way),
			       changes_kind_name(c->kind), w.text.p));
	return o;
}

static cJSON *forged_result(const struct diff *d, const struct operand *s)
{
	cJSON *o = result_of(d, RULE_FORGED, diff_remark(d->a, s));
	cJSON *list = json_array();

	json_push(list, location_json(d->a, s->file, 0));
	json_put(o, "locations", list);
	put_print(o, STR("plan-forged"));
	return o;
}

static void push_place(cJSON *results, const struct diff *d,
		       const struct third_party_hit *h)
{
	struct place at = sources_place(&d->now->c.sources, h->grant->from.at);
	struct str file = d->now->file;
	bool any = h->grant->dest.kind == IR_DEST_ANY;
	cJSON *o = result_of(
		d, RULE_PLACE,
		arena_fmt(d->a, "others can now read what is sent to %s%s%s",
			  changes_place(&d->access, h).p, any ? "" : ": ",
			  any ? "" : h->place->what));
	cJSON *list = json_array();
	uint32_t line = file_of(d->now, &at, &file) ? at.line : 0;

	json_push(list, location_json(d->a, file, line));
	json_put(o, "locations", list);
	put_print(o, arena_fmt(d->a, "third-party %.*s%.*s %s",
			       STR_ARG(h->place->dest), STR_ARG(h->place->path),
			       h->place->what));
	json_push(results, o);
}

/* One each; all of those that '*' reaches are one. */
static void push_places(cJSON *results, const struct diff *d)
{
	const struct third_party_hit *any = NULL;

	vec_each(h, &d->access.places)
		if (h->grant->dest.kind == IR_DEST_ANY)
			any = h;
		else
			push_place(results, d, h);
	if (any)
		push_place(results, d, any);
}

struct str diff_sarif(const struct diff *d)
{
	cJSON *root = json_object(), *runs = json_array(), *run = json_object();
	cJSON *tool = json_object(), *driver = json_object();
	cJSON *results = json_array();

	json_put_cstr(driver, "name", "membrane");
	json_put_cstr(driver, "semanticVersion", MEMBRANE_VERSION);
	json_put(driver, "rules", driver_rules());
	json_put(tool, "driver", driver);
	vec_each(c, &d->access.found.changes)
		json_push(results, change_result(d, c));
	push_places(results, d);
	if (d->old->forged)
		json_push(results, forged_result(d, d->old));
	if (d->now->forged)
		json_push(results, forged_result(d, d->now));
	json_put(run, "tool", tool);
	json_put(run, "results", results);
	json_push(runs, run);
	json_put_cstr(root, "$schema", SCHEMA);
	json_put_cstr(root, "version", "2.1.0");
	json_put(root, "runs", runs);
	return json_shown(d->a, root);
}
