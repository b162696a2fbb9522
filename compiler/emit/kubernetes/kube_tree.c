#include "compiler/emit/kubernetes/kube_tree.h"

#include "compiler/base/ascii.h"
#include "compiler/emit/yaml_write.h"

#include <inttypes.h>
#include <stdlib.h>

static struct kube_node *new_node(struct arena *a, enum kube_node_kind kind,
				  const char *key)
{
	struct kube_node *n = arena_new_of(a, struct kube_node);

	n->a = a;
	n->kind = kind;
	n->key = key;
	return n;
}

static struct kube_node *put_node(struct kube_node *in,
				  enum kube_node_kind kind, const char *key)
{
	struct kube_node *n = new_node(in->a, kind, key);

	*vec_push(in->a, &in->items) = n;
	return n;
}

struct kube_node *kube_tree_root(struct arena *a)
{
	return new_node(a, KUBE_NODE_MAP, NULL);
}

struct kube_node *kube_tree_map(struct kube_node *in, const char *key)
{
	return put_node(in, KUBE_NODE_MAP, key);
}

struct kube_node *kube_tree_list(struct kube_node *in, const char *key)
{
	return put_node(in, KUBE_NODE_LIST, key);
}

struct kube_node *kube_tree_text(struct kube_node *in, const char *key,
				 struct str text)
{
	struct kube_node *n = put_node(in, KUBE_NODE_TEXT, key);

	n->text = text;
	return n;
}

struct kube_node *kube_tree_word(struct kube_node *in, const char *key,
				 const char *word)
{
	return kube_tree_text(in, key, str_of(word));
}

struct kube_node *kube_tree_literal(struct kube_node *in, const char *key,
				    struct str text)
{
	struct buf b;

	buf_init(&b, in->a);
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '$')
			buf_addc(&b, '$');
		buf_addc(&b, text.p[i]);
	}
	return kube_tree_text(in, key, buf_str(&b));
}

struct kube_node *kube_tree_number(struct kube_node *in, const char *key,
				   uint64_t number)
{
	struct kube_node *n = put_node(in, KUBE_NODE_NUMBER, key);

	n->text = arena_fmt(in->a, "%" PRIu64, number);
	return n;
}

struct kube_node *kube_tree_bool(struct kube_node *in, const char *key,
				 bool truth)
{
	struct kube_node *n = put_node(in, KUBE_NODE_BOOL, key);

	n->truth = truth;
	return n;
}

void kube_tree_words(struct kube_node *in, const char *key,
		     const char *const *words)
{
	struct kube_node *list = kube_tree_list(in, key);

	for (; *words; words++)
		kube_tree_word(list, NULL, *words);
}

struct kube_node *kube_tree_get(const struct kube_node *map, const char *key)
{
	vec_each(item, &map->items)
		if ((*item)->key && strcmp((*item)->key, key) == 0)
			return *item;
	return NULL;
}

/* --- what made it --------------------------------------------------------- */

static void add_cause(struct kube_node *n, struct str cause)
{
	vec_each(c, &n->causes)
		if (str_eq(*c, cause))
			return;
	*vec_push(n->a, &n->causes) = cause;
}

void kube_tree_from(const struct emit_in *in, struct kube_node *n,
		    const struct ir_origin *from)
{
	struct place at;

	if (from->layer == LAYER_FLOOR)
		return;
	at = sources_place(in->sources, from->at);
	if (at.source)
		add_cause(n, arena_fmt(n->a, "%.*s:%u:%u",
				       STR_ARG(at.source->name), at.line,
				       at.column));
}

void kube_tree_flag(struct kube_node *n, const char *flag)
{
	add_cause(n, str_of(flag));
}

static void put_causes(const struct kube_node *n, const char *path, cJSON *out)
{
	cJSON *list;

	if (n->causes.n == 0)
		return;
	list = json_array();
	vec_each(c, &n->causes)
		json_push_str(list, *c);
	json_put(out, path, list);
}

void kube_tree_causes(const struct kube_node *n, const char *path, cJSON *out)
{
	uint32_t i = 0;

	put_causes(n, path, out);
	vec_each(item, &n->items) {
		const char *below =
			(*item)->key ? arena_fmt(n->a, "%s%s%s", path,
						 *path ? "." : "", (*item)->key)
					       .p
				     : arena_fmt(n->a, "%s[%u]", path, i).p;

		kube_tree_causes(*item, below, out);
		i++;
	}
}

/* --- YAML ----------------------------------------------------------------- */

/*
 * What no reader of YAML, whichever its version, takes for anything but a
 * text: a word of letters, digits and a few signs that begins with a letter or
 * a slash, and is none of those that are truths or nothing.
 */
static bool is_plain(struct str s)
{
	if (s.n == 0 || ascii_is_digit(s.p[0]) ||
	    (!ascii_is_alnum(s.p[0]) && s.p[0] != '/'))
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (!ascii_is_alnum(s.p[i]) && !strchr("/._-", s.p[i]))
			return false;
	return !ASCII_IS_ANY(s, "y", "n", "yes", "no", "on", "off", "true",
			     "false", "null");
}

static void write_text(struct yaml_write *w, struct str s)
{
	yaml_scalar_style_t style = YAML_DOUBLE_QUOTED_SCALAR_STYLE;

	if (is_plain(s))
		style = YAML_PLAIN_SCALAR_STYLE;
	else if (str_find(s, '\n', 0) < s.n)
		style = YAML_LITERAL_SCALAR_STYLE;
	yaml_write_scalar(w, s, style);
}

static void write_node(struct yaml_write *w, const struct kube_node *n)
{
	switch (n->kind) {
	case KUBE_NODE_MAP:
		yaml_write_map(w, YAML_BLOCK_MAPPING_STYLE);
		vec_each(item, &n->items) {
			write_text(w, str_of((*item)->key));
			write_node(w, *item);
		}
		yaml_write_map_end(w);
		return;
	case KUBE_NODE_LIST:
		yaml_write_list(w, YAML_BLOCK_SEQUENCE_STYLE);
		vec_each(item, &n->items)
			write_node(w, *item);
		yaml_write_list_end(w);
		return;
	case KUBE_NODE_TEXT:
		write_text(w, n->text);
		return;
	case KUBE_NODE_NUMBER:
		yaml_write_scalar(w, n->text, YAML_PLAIN_SCALAR_STYLE);
		return;
	case KUBE_NODE_BOOL:
		yaml_write_scalar(w, n->truth ? STR("true") : STR("false"),
				  YAML_PLAIN_SCALAR_STYLE);
		return;
	}
	abort();
}

void kube_tree_write(struct arena *a, struct kube_node *const *roots, size_t n,
		     struct buf *out)
{
	struct yaml_write w;

	yaml_write_begin(&w, a, out);
	for (size_t i = 0; i < n; i++) {
		if (i)
			yaml_write_next(&w);
		write_node(&w, roots[i]);
	}
	yaml_write_end(&w);
}
