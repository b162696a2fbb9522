/*
 * What a container of ours says to its launcher: records of JSON on stdout, a
 * line each, and on stderr words of its own, or of docker when it cannot start.
 *
 * VIEW_SAYS_ERROR and VIEW_SAYS_DONE are the same for all who speak; other
 * events are for who listens. Anything else on stdout is one that cannot be
 * trusted.
 */
#ifndef RUNTIME_LAUNCH_SESSION_SAYS_H
#define RUNTIME_LAUNCH_SESSION_SAYS_H

#include "compiler/base/err.h"
#include "compiler/base/str.h"
#include "compiler/plan/view_hello.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

#define SAYS_LINE_MAX  VIEW_SAYS_LINE_MAX /* the longest there are */
#define SAYS_WORDS_MAX 512u

struct says {
	const char *who;    /* "gate": as messages call it */
	uint32_t line_max;  /* bytes, at most SAYS_LINE_MAX */
	uint32_t words_max; /* the same of its words */
	/* A record: o with that event, and its line, behind which the LF lies;
	 * says_unknown() where it is none that is known. */
	int (*on_event)(void *ctx, const char *event, const cJSON *o,
			struct str line, struct err *err);
	/* All of stderr, as it comes; or NULL. */
	void (*on_stderr)(void *ctx, struct str text);
	/* A line of it, which says_words() may take, or another for it. */
	void (*on_line)(void *ctx, struct str line);
	void *ctx;
	bool done;	 /* all that it had to tell has been read */
	bool words_done; /* they are of an error event */
	size_t line_n;
	char line[SAYS_LINE_MAX];
	char words[SAYS_WORDS_MAX]; /* what it said last */
};

/*
 * Take what there is to read; never blocks. A descriptor is -1 afterwards when
 * that was its end.
 *   -EPROTO  something that is not the protocol: the session must end
 */
must_check int says_pump(struct says *s, int *out, int *err_out,
			 struct err *err);
/* The same of text that came another way than by a pipe. */
must_check int says_take(struct says *s, struct str text, struct err *err);
void says_words(struct says *s, struct str text);
must_check int says_unknown(const struct says *s, const char *event,
			    struct err *err);
/* For people; never NULL. */
const char *says_last_words(const struct says *s);

#endif
