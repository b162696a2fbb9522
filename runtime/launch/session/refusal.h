/*
 * One refusal, as somebody is told of it when it happens: a line for people,
 * and an object for programs.
 *
 *	membrane: refused api.example.com:443: no-grant; add to 'allow' in
 *	.membrane.yaml:  - api.example.com:443
 *	membrane:   by curl[10]: curl -sS https://api.example.com/
 *
 * Pure. What the agent chose of it (names, paths, methods) is printable ASCII
 * by then, but for the record, which is as it came.
 */
#ifndef RUNTIME_LAUNCH_SESSION_REFUSAL_H
#define RUNTIME_LAUNCH_SESSION_REFUSAL_H

#include "compiler/base/buf.h"
#include "compiler/base/reason.h"
#include "compiler/base/third_party.h"
#include "compiler/plan/hello.h"

#include <cjson/cJSON.h>

#define REFUSAL_VERSION 1
#define REFUSAL_EVENT	"refusal"
#define REFUSAL_TEXT	2048u /* most bytes of a line; longer ones are cut */
/* How long whatever is told waits for the trace to say whose it was. */
#define REFUSAL_WHOSE_MS 200

/* Who wanted it, as the trace has it. */
struct refusal_by {
	enum hello_sure sure;
	uint32_t pid;	    /* as the session counts */
	struct str comm;    /* of the thread, as the kernel has it */
	struct str command; /* bounded; or empty */
};

struct refusal {
	enum reason reason;
	struct str what;   /* "GET example.com:443/a", "write lib/a.c" */
	struct str advice; /* what would allow it, or why nothing would */
	struct str grant;  /* the entry of `allow` that would; or empty */
	struct str word; /* the same as a word of 'membrane allow'; or empty */
	struct str at;	 /* "FILE:LINE" of what refused it; or empty */
	const struct third_party *place; /* whose it is; NULL: not known */
	struct refusal_by by;
	const cJSON *record; /* decision.schema.json; borrowed */
};

/* Whose it is. */
struct refusal_of {
	const char *session, *workspace;
};

/* A second one is there, where there is a third party or the trace says whose
 * it is. Each with its LF, together at most PIPE_BUF bytes. */
void refusal_line(const struct refusal *r, bool colour, struct buf *out);
/* "by curl[10]: curl -sS https://x.test/"; empty: the trace does not say. */
struct str refusal_whose(struct arena *a, const struct refusal *r);
/* "others read there: gists (forge)": of a third party's words, or of what is
 * on record about it; empty where nobody else does. */
struct str refusal_readers(struct arena *a, struct str what, struct str kind);
struct str refusal_read_by(struct arena *a, const struct refusal *r);
/* A copy of its texts that is a's own; no record. */
struct refusal refusal_copy(struct arena *a, const struct refusal *r);
/* Who wanted it, null where that is not known; and whose the place is. */
cJSON *refusal_by_json(const struct refusal_by *by);
cJSON *refusal_place_json(const struct third_party *place);
/*
 * refusal.schema.json; the caller owns it. dropped: how many before it nobody
 * was told of.
 */
cJSON *refusal_json(struct arena *a, const struct refusal *r,
		    const struct refusal_of *of, uint64_t dropped);

#endif
