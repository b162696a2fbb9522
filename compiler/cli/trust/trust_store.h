/*
 * trust.json: which contributions of which workspaces were approved.
 *
 *	{
 *	  "version": 2,
 *	  "approved": [
 *	    {
 *	      "workspace": "/home/me/project",
 *	      "digest": "<64 hexadecimal digits>",
 *	      "when": "2026-01-31T12:00:00Z",
 *	      "adds": ["allow *.example tcp/443", "args --init"],
 *	      "cuts": ["deny b.example tcp/1-65535,udp/1-65535"],
 *	      "more": 0
 *	    }
 *	  ],
 *	  "older": [{"workspace": "/home/me/x", "when": "2025-12-31T12:00:00Z"}]
 *	}
 *
 * workspace  absolute, every link followed: the path that `run` works on
 * digest     of what the workspace adds, and of what cuts into it:
 *            contribution.h
 * when       UTC; for people
 * adds,      the texts behind the digest, for people: at most LIMIT_TRUST_ADDS
 * cuts       of each, each cut at LIMIT_TRUST_TEXT bytes. Where they make the
 *            digest, they are all there was
 * more       how many there were beside adds
 * older      approvals of version 1, which was about what is added alone, so
 *            that what cut into it could go: they count for nothing, and are
 *            kept so that whoever is asked again can be told why
 *
 * One workspace may have several, as of several branches. What is beyond
 * LIMIT_TRUST_ENTRIES is forgotten, the oldest first: membrane asks again.
 *
 * The file and its folder must belong to who runs membrane or to root (and,
 * where root runs it, may be whose the folder is), and nobody else may write
 * them; the file must not be a link. Anything else, another version,
 * an unknown member, a wrong type: the whole file is refused, nothing in it
 * counts, and nothing writes over it. Version 1 is read, and all of it is older
 * (above). Changes are made under a lock on the
 * folder and replace the file at once.
 */
#ifndef COMPILER_CLI_TRUST_TRUST_STORE_H
#define COMPILER_CLI_TRUST_TRUST_STORE_H

#include "compiler/base/err.h"
#include "compiler/base/sha256.h"
#include "compiler/ir/ir.h"

struct trust_entry {
	struct str workspace;
	struct str digest;
	struct str when;
	ir_texts adds, cuts;
	uint64_t more;
};

struct trust_store {
	VEC(struct trust_entry) entries; /* the newest last */
	VEC(struct trust_entry) older;	 /* a workspace and when, alone */
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
 * An entry for this path that has all of these additions and no others, where
 * all that cut into them then does now: what is denied beside is less, and not
 * more. NULL: none does, or none is known to.
 */
const struct trust_entry *trust_store_within(struct arena *a,
					     const struct trust_store *s,
					     struct str workspace,
					     const ir_texts *adds,
					     const ir_texts *cuts);
/* The newest approval of this path that no longer counts, or NULL. */
const struct trust_entry *trust_store_older(const struct trust_store *s,
					    struct str workspace);
/*
 * Remember an approval, now. Reads what is there first, under the lock.
 *   -EILSEQ  a path that is not UTF-8, and so none for JSON
 * and as trust_store_read().
 */
must_check int trust_store_add(struct arena *a, const char *state,
			       struct str workspace, struct str digest,
			       const ir_texts *adds, const ir_texts *cuts,
			       struct err *err);
/* Forget all of a workspace; *out says how many there were that counted. */
must_check int trust_store_revoke(struct arena *a, const char *state,
				  struct str workspace, uint32_t *out,
				  struct err *err);

#endif
