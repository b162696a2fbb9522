/*
 * trust.json: which contributions of which workspaces were approved.
 *
 *	{
 *	  "version": 1,
 *	  "approved": [
 *	    {
 *	      "workspace": "/home/me/project",
 *	      "digest": "<64 hexadecimal digits>",
 *	      "when": "2026-01-31T12:00:00Z",
 *	      "adds": ["allow a.example tcp/443", "args --init"],
 *	      "more": 0
 *	    }
 *	  ]
 *	}
 *
 * workspace  absolute, every link followed: the path that `run` works on
 * digest     of what the workspace adds: contribution.h
 * when       UTC; for people, as the rest is
 * adds       the texts behind the digest, for people: at most
 *            LIMIT_TRUST_ADDS of them, each cut at LIMIT_TRUST_TEXT bytes
 * more       how many there were beside them
 *
 * One workspace may have several, as of several branches. What is beyond
 * LIMIT_TRUST_ENTRIES is forgotten, the oldest first: membrane asks again.
 *
 * The file and its folder must belong to who runs membrane, and nobody else
 * may write them; the file must not be a link. Anything else, another version,
 * an unknown member, a wrong type: the whole file is refused, nothing in it
 * counts, and nothing writes over it. Changes are made under a lock on the
 * folder and replace the file at once.
 */
#ifndef COMPILER_COMMANDS_TRUST_STORE_H
#define COMPILER_COMMANDS_TRUST_STORE_H

#include "compiler/base/err.h"
#include "compiler/base/sha256.h"
#include "compiler/ir/ir.h"

struct trust_entry {
	struct str workspace;
	struct str digest;
	struct str when;
	VEC(struct str) adds;
	uint64_t more;
};

struct trust_store {
	VEC(struct trust_entry) entries; /* the newest last */
};

/* "STATE/trust.json" */
const char *trust_store_path(struct arena *a, const char *state);
/*
 * state: ~/.membrane. No file is an empty store.
 *   -EPERM   the file, or the folder, is not safe from others
 *   -EBADMSG not what is written above
 */
must_check int trust_store_read(struct arena *a, const char *state,
				struct trust_store *out, struct err *err);
/* The file's text alone; path is for *err. */
must_check int trust_store_parse(struct arena *a, const char *path,
				 struct str text, struct trust_store *out,
				 struct err *err);
/* The entry for this path and digest; NULL: not approved. */
const struct trust_entry *trust_store_find(const struct trust_store *s,
					   struct str workspace,
					   struct str digest);
/*
 * Remember an approval, now. Reads what is there first, under the lock.
 *   -EILSEQ  a path that is not UTF-8, and so none for JSON
 * and as trust_store_read().
 */
must_check int trust_store_add(struct arena *a, const char *state,
			       struct str workspace, struct str digest,
			       const ir_texts *adds, struct err *err);
/* Forget all of a workspace; *out says how many there were. */
must_check int trust_store_revoke(struct arena *a, const char *state,
				  struct str workspace, uint32_t *out,
				  struct err *err);

#endif
