/*
 * The smallest changes to the text of a policy: an item more, an item less.
 *
 * The rest of the text stays as it is, comments and all. A text of a shape
 * that this does not know how to change is left alone (false), and whether a
 * change means what was wanted is for a compile to say.
 *
 * Where an alias stands for a list, it becomes a copy with the change, so that
 * what it was an alias of means what it did; an item that is an alias goes as
 * one, and what aliases elsewhere stand for goes to the first of them.
 */
#ifndef COMPILER_FRONT_YAML_EDIT_H
#define COMPILER_FRONT_YAML_EDIT_H

#include "compiler/base/buf.h"

/*
 * One more item in a list of the policy: "allow", "ignore"; the key is written
 * where there is none. item: YAML on one line, good in "- …" and in "[…]".
 */
must_check bool edit_add(struct arena *a, struct str text, const char *key,
			 struct str item, struct str *out);
/* Without the item, of whichever list of the policy, that has the byte at.
 * key: of the list under it, where several have the item; or NULL. */
must_check bool edit_remove(struct arena *a, struct str text, size_t at,
			    const char *key, struct str *out);
/* Without that item, from 0, of the list under a key of the policy. */
must_check bool edit_remove_nth(struct arena *a, struct str text,
				const char *key, uint32_t i, struct str *out);
/* Another item, on one line, in its place. */
must_check bool edit_replace(struct arena *a, struct str text, size_t at,
			     const char *key, struct str item, struct str *out);
/* That item, a mapping, with one more item in its own list under the key. */
must_check bool edit_extend(struct arena *a, struct str text, size_t at,
			    const char *key, struct str item, struct str *out);

/* The same two for a file of lines: .membraneignore. */
struct str edit_add_line(struct arena *a, struct str text, struct str line);
struct str edit_remove_line(struct arena *a, struct str text, size_t at);

/* A string as YAML has it on one line, quoted where it must be. */
struct str edit_scalar(struct arena *a, struct str s);

#endif
