/*
 * Policy files and what they extend.
 *
 * A file's presets come before it, each once in a compile, wherever it was
 * first asked for. `extends` takes two kinds of words:
 *
 *	npm, registries/npm     a preset, from the folder of policies
 *	base.yaml, ci/base.yml  a file below the folder of the extending one
 *
 * A file of the workspace that is extended becomes readonly in the sandbox.
 * What the workspace's file extends belongs to the workspace's layer: it adds
 * what it extends, and that needs approval like the rest of it. What the
 * global file extends is of the preset layer.
 */
#ifndef COMPILER_FRONT_PRESETS_H
#define COMPILER_FRONT_PRESETS_H

#include "compiler/front/files.h"

typedef VEC(const char *) presets_names;

/* The folders below that of policies where a preset may lie, each with a slash
 * at its end but for the first, ""; NULL at the end. */
const char *presets_folder(size_t i);
/* Append the names of the presets in one of them, sorted. */
void presets_list(struct arena *a, const char *policies, const char *folder,
		  presets_names *out);

struct presets_file {
	enum files_root root;
	struct str path; /* below the root */
	struct str name; /* for people */
	bool open;	 /* being loaded: to extend it now is a cycle */
	struct span at;	 /* who extends it */
};

struct presets {
	struct files *files;
	struct sources *sources;
	docs *out;
	VEC(struct presets_file) known;
	/* What their names begin with for people: SOURCE_PRESET, or what asked
	 * for them instead of 'extends'. */
	const char *label;
	unsigned depth;
	bool full; /* LIMIT_SOURCES was reported */
	bool ok;
};

/*
 * Load one file with all that it extends and append the documents. Whether
 * something was reported is p->ok. FILES_ABSENT when there is no such file.
 */
must_check enum files_status presets_load(struct presets *p,
					  enum files_root root, struct str path,
					  struct str name, enum layer layer);

/* Could it be the name of one? No destination is written so without a port. */
bool presets_is_word(struct str s);
/* One of them by its word, with what it extends: as presets_load(), but that an
 * unknown one is reported, FILES_REFUSED. */
must_check enum files_status presets_named(struct presets *p,
					   const struct ir_text *word,
					   enum layer layer);

#endif
