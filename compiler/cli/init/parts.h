/*
 * What the readers of settings share: a table of members, and how the words of
 * others are said here.
 */
#ifndef COMPILER_CLI_INIT_PARTS_H
#define COMPILER_CLI_INIT_PARTS_H

#include "compiler/base/err.h"
#include "compiler/base/json.h"
#include "compiler/cli/init/proposal.h"

struct from {
	struct proposal *d;
	struct str workspace; /* absolute */
	bool any_port;	      /* a grant was given a port that nobody wrote */
};

/* text: a string, or a whole number as one. where: "permissions.deny". */
typedef void from_take(struct from *f, struct str text, struct str where);

/*
 * One member, by its path. take is handed its value, or each item where that
 * is a list; without take, unsaid says why it is none of a policy's, and NULL
 * passes it over.
 */
struct from_row {
	const char *path;
	from_take *take;
	const char *unsaid;
};

extern const struct from_row from_claude_rows[];       /* path NULL ends */
extern const struct from_row from_srt_rows[];	       /* likewise */
extern const struct from_row from_devcontainer_rows[]; /* likewise */
extern const struct from_row from_codex_rows[];	       /* likewise */

/*
 * What the rows of codex do not name: its profile, of which there is one, or
 * one that is chosen; -EINVAL where that is not so.
 */
must_check int from_codex_profile(struct from *f, const cJSON *o,
				  struct err *err);

/* --- from_words.c --------------------------------------------------------- */

/* "where: text" stays unsaid, for this reason. */
void from_unsaid(struct from *f, struct str where, struct str text,
		 const char *why);
/* A domain of the web: "a.test", "*.a.test" for all below it, an address. */
void from_domain(struct from *f, enum proposal_key key, struct str text,
		 struct str where);

enum from_paths {
	FROM_GITIGNORE, /* "a" is anywhere, "/a" in the workspace, "//a" abs. */
	FROM_PLAIN,	/* "a" is in the workspace, "/a" absolute */
};
/* A path of the workspace, as a pattern; others need none: nothing is there. */
void from_path(struct from *f, enum proposal_key key, enum from_paths kind,
	       struct str text, struct str where);

/* --- toml.c --------------------------------------------------------------- */

/*
 * TOML, as a tree of cJSON: tables are objects, and numbers and times are texts
 * as they stand there. Narrower than TOML in depth and number of keys; wider in
 * that a table may come again, and be added to: a key may not, anywhere.
 *
 * text: without a NUL. *out is the caller's, for cJSON_Delete(), and no longer
 * good than a is.
 *
 *   -EINVAL  *err says what is wrong, and in which line
 */
must_check int toml_read(struct arena *a, struct str text, cJSON **out,
			 struct err *err);

#endif
