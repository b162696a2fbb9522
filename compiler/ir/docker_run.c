#include "compiler/ir/docker_run.h"

static const struct docker_run_option table[] = {
#define DOCKER_RUN(id, name, letter, type)                                     \
	{DOCKER_RUN_##id, name, letter, DOCKER_RUN_##type},
#include "grammar/docker-run.def"
#undef DOCKER_RUN
};

const struct docker_run_option *docker_run_option(enum docker_run_id id)
{
	return &table[id];
}

const struct docker_run_option *docker_run_named(struct str name)
{
	for (size_t i = 0; i < DOCKER_RUN_IDS; i++)
		if (str_is(name, table[i].name))
			return &table[i];
	return NULL;
}

const struct docker_run_option *docker_run_lettered(char letter)
{
	for (size_t i = 0; i < DOCKER_RUN_IDS; i++)
		if (letter && table[i].letter == letter)
			return &table[i];
	return NULL;
}

const char *docker_run_version(void)
{
	return DOCKER_RUN_VERSION;
}

/* What Go's strconv.ParseBool takes. */
bool docker_run_bool(struct str value, bool *out)
{
	static const char *const words[][2] = {
		{"1", "0"},	   {"t", "f"},	      {"T", "F"},
		{"true", "false"}, {"TRUE", "FALSE"}, {"True", "False"},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (str_is(value, words[i][0]) || str_is(value, words[i][1])) {
			*out = str_is(value, words[i][0]);
			return true;
		}
	}
	return false;
}

static void end_word(struct docker_run_reader *r)
{
	r->next++;
	r->in = 0;
}

/* The next word as the value of an option that ends the word before it. */
static enum docker_run_status take_next(struct docker_run_reader *r,
					struct docker_run_found *out)
{
	end_word(r);
	if (r->next >= r->n || (r->joins && !r->joins(r->ctx, r->next)))
		return DOCKER_RUN_ALONE;
	out->has_value = true;
	out->value_at = r->next;
	out->value = r->word(r->ctx, r->next++);
	return DOCKER_RUN_TAKEN;
}

/* --name, --name=value, --name value */
static enum docker_run_status long_option(struct docker_run_reader *r,
					  struct str word,
					  struct docker_run_found *out)
{
	struct str name = str_slice(word, 2, word.n);
	size_t equals = str_find(name, '=', 0);

	out->has_value = equals < name.n;
	out->value = str_slice(name, equals + 1, name.n);
	out->text = name = str_slice(name, 0, equals);
	out->option = docker_run_named(name);
	if (out->option && out->option->type != DOCKER_RUN_FLAG &&
	    !out->has_value)
		return take_next(r, out);
	end_word(r);
	return out->option ? DOCKER_RUN_TAKEN : DOCKER_RUN_UNKNOWN;
}

/* -x, -xvalue, -x=value, -x value; a flag leaves the rest of its word. */
static enum docker_run_status read_letter(struct docker_run_reader *r,
					  struct str word,
					  struct docker_run_found *out)
{
	size_t i = r->in ? r->in : 1;
	const struct docker_run_option *o = docker_run_lettered(word.p[i]);

	out->is_letter = true;
	out->option = o;
	out->text = str_slice(word, i, i + 1);
	if (!o) {
		end_word(r);
		return DOCKER_RUN_UNKNOWN;
	}
	/* pflag drops the '=' only when something is behind it. */
	if (i + 2 < word.n && word.p[i + 1] == '=') {
		out->has_value = true;
		out->value = str_slice(word, i + 2, word.n);
	} else if (o->type == DOCKER_RUN_FLAG && i + 1 < word.n) {
		r->in = i + 1;
		return DOCKER_RUN_TAKEN;
	} else if (i + 1 < word.n) {
		out->has_value = true;
		out->value = str_slice(word, i + 1, word.n);
	} else if (o->type != DOCKER_RUN_FLAG) {
		return take_next(r, out);
	}
	end_word(r);
	return DOCKER_RUN_TAKEN;
}

enum docker_run_status docker_run_read(struct docker_run_reader *r,
				       struct docker_run_found *out)
{
	struct str word;

	*out = (struct docker_run_found){.at = r->next, .value_at = r->next};
	if (r->next >= r->n)
		return DOCKER_RUN_END;
	word = r->word(r->ctx, r->next);
	if (r->in)
		return read_letter(r, word, out);
	if (str_is(word, "--")) {
		r->next++;
		return DOCKER_RUN_IMAGE;
	}
	if (str_starts(word, STR("--")))
		return long_option(r, word, out);
	if (word.n > 1 && word.p[0] == '-')
		return read_letter(r, word, out);
	return DOCKER_RUN_IMAGE;
}
