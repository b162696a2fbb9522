/*
 * What the files of this room ask of each other: a session as it is gathered,
 * and the sections of its page.
 */
#ifndef COMPILER_CLI_REPORT_PARTS_H
#define COMPILER_CLI_REPORT_PARTS_H

#include "compiler/cli/page/page.h"
#include "compiler/cli/traces/past.h"
#include "compiler/cli/traces/trace_processes.h"
#include "compiler/lint/secret_files.h"
#include "runtime/launch/session/change_log.h"
#include "runtime/launch/session/decisions.h"

/* --- texts.c -------------------------------------------------------------- */

/* Texts of a bounded number, each with an index from 1, in the order in which
 * they came. */
#define TEXTS_MAX 16384u
struct texts {
	struct arena *a;
	uint32_t slot[4 * TEXTS_MAX];
	VEC(struct str) v;
	uint64_t beyond; /* that found no room */
};
/* 0: no room, or !add and it is not there. */
uint32_t texts_index(struct texts *t, struct str text, bool add);
/* The text that is kept in the place of one that comes again and again; "…"
 * where there is no room: what was there before would be another one's. */
void texts_keep(struct texts *t, struct str text, struct str *out);
/* At most n bytes and a '…', no half of a character. */
struct str texts_cut(struct arena *a, struct str s, size_t n);
/* The same of a path, whose end says more. */
struct str texts_tail(struct arena *a, struct str s, size_t n);

/* --- places.c ------------------------------------------------------------- */

#define PLACE_REQUESTS 12u
#define PLACE_PROGRAMS 4u

struct goal_request {
	struct str text; /* "POST /v1/messages" */
	bool allow;
	uint64_t n;
};

/* One destination: a name, or an address that none is known for, on a port. */
struct goal {
	struct str who, proto;
	uint16_t port; /* 0: only asked for */
	bool is_name;
	uint64_t allowed, refused, unknown; /* unknown: by the trace alone */
	uint64_t sent, received;	    /* bytes */
	struct str reason;		    /* of its first refusal */
	struct str source; /* of the rule that decided last, or empty */
	uint64_t line;
	struct goal_request *request; /* PLACE_REQUESTS, or NULL */
	uint32_t requests;
	uint64_t more_requests;
	struct str program[PLACE_PROGRAMS]; /* that went there */
	uint32_t programs;
	bool more_programs;
};

struct places {
	struct arena *a;
	struct texts keys, ends; /* ends: "tcp 192.0.2.1:443" */
	struct texts words;	 /* reasons, sources, programs */
	VEC(struct goal) v;	 /* by index of keys, less one */
	VEC(uint32_t) by_end;	 /* places, by index of ends, less one */
	uint64_t decisions;
};
void places_init(struct places *p, struct arena *a);
/* A record of decisions.jsonl. */
void places_decision(struct places *p, const cJSON *o);
/* An event of the trace: where it leads, from 1; 0: nowhere. */
uint32_t places_event(struct places *p, const struct trace_event *e);
/* Where most went first, then what was refused; those that were but asked for
 * and then reached are left out. */
typedef VEC(const struct goal *) place_list;
void places_sorted(const struct places *p, place_list *out);
/* "api.example.com:443" */
struct str place_text(struct arena *a, const struct goal *p);

/* --- written.c ------------------------------------------------------------ */

struct file {
	struct str path; /* of the workspace, or absolute */
	bool in_workspace;
	uint64_t writes;
	bool removed;		   /* the last that was done to it */
	struct str program;	   /* that did it last */
	const char *secret;	   /* what it likely holds; or NULL */
	uint64_t touches, refused; /* of a secret: opened, and not let */
};
struct files {
	struct arena *a;
	struct texts paths, programs;
	VEC(struct file) v;
	struct gitignore *secrets;
	const struct activity *places; /* whose workspace is where */
};
void files_init(struct files *f, struct arena *a, const struct activity *d);
void files_event(struct files *f, const struct trace_event *e);
/* What the view refused. */
void files_decision(struct files *f, const cJSON *o);

/* --- asked.c -------------------------------------------------------------- */

#define ASKING_MAX  500u /* questions; more are counted */
#define WHOSE_BYTES 300u

/* "by curl[10]: curl …", "others read there: …"; or empty. */
struct whose {
	struct str by, readers;
};
struct asked_once {
	uint64_t id;
	struct str when, what, source;
	uint64_t line;
	struct whose whose;
	struct str answer, who; /* empty: it waits; nobody is known */
};
struct asking {
	struct arena *a;
	VEC(struct asked_once) v;
	uint64_t beyond;
	struct texts refused; /* as "what" of a refusal that was told */
	VEC(struct whose) whose; /* by index of refused, less one */
	uint64_t lost[DECISIONS_LOST_KINDS];
};
void asking_init(struct asking *k, struct arena *a);
/* False: it is no record of these. */
bool asking_take(struct asking *k, const cJSON *o);
/* Whose the first refusal of that was; NULL: that is not known. */
const struct whose *asking_whose(struct asking *k, struct str what);
/* In the cell of what it is about; w: or NULL. */
void shown_whose(struct html *h, struct arena *a, const struct whose *w);

/* --- pace.c --------------------------------------------------------------- */

#define PACE_BINS 160u

/* How much happened when, in bins that grow with the session. */
struct pace {
	uint64_t first_ns, bin_ns;
	uint32_t done[PACE_BINS], refused[PACE_BINS];
	bool any;
};
void pace_add(struct pace *p, uint64_t at_ns, bool is_refused);

/* --- linediff.c ----------------------------------------------------------- */

enum linediff_kind { LINEDIFF_SAME, LINEDIFF_ADDED, LINEDIFF_REMOVED };
struct linediff_line {
	enum linediff_kind kind;
	struct str text;	     /* without its LF */
	uint32_t old_line, new_line; /* from 1; of what it is not in: 0 */
};
struct linediff {
	VEC(struct linediff_line) v; /* all of both texts, in order */
	uint32_t added, removed;
};
#define LINEDIFF_LINES 8000u /* of one text; more are not compared */
/*
 * The least edit from one to the other (Myers, An O(ND) Difference Algorithm,
 * 1986); where they differ in too much, all of the old and then all of the
 * new. False: more than LINEDIFF_LINES.
 */
bool linediff_make(struct arena *a, struct str before, struct str after,
		   struct linediff *out);

/* --- compared.c ----------------------------------------------------------- */

enum compared_how {
	COMPARED_DIFF,	 /* diff says how it differs */
	COMPARED_SAME,	 /* as committed */
	COMPARED_HIDDEN, /* why: "hidden by the policy" */
};
struct compared {
	enum compared_how how;
	const char *why;
	bool is_ignored; /* by git: there tend to be many */
	bool is_new, is_gone;
	struct linediff diff;
};
/* What files of the workspace are now, against the commit HEAD. */
struct comparing {
	struct arena *a;
	bool is_repository;
	struct str commit;	/* its digest, shortened */
	struct str why;		/* where it is none */
	VEC(struct compared) v; /* one for each file of it, in order */
	uint64_t left_out;	/* of these: not compared, there are too many */
	uint32_t diffs;
};
struct report;
void comparing_make(struct report *r, struct comparing *out);

/* --- report.c ------------------------------------------------------------- */

/* What one process did, besides processes. */
#define REPORT_PLACES 3u
struct report_deeds {
	uint32_t place[REPORT_PLACES]; /* from 1; 0: none */
	uint32_t places, written, attempts;
};

struct report {
	struct arena *a;
	struct past past;
	struct metadata_end end;
	enum session_found state;
	change_log_list changes;
	struct places places;
	struct files files;
	struct asking asking;
	struct processes processes;
	VEC(struct report_deeds) deeds; /* by process */
	struct pace pace;
	uint64_t events;
	uint64_t unnamed; /* lines of decisions that are none */
};

/* --- shown, in the order of the page ---------------------------------------
 */

void shown_head(struct html *h, struct report *r);
void shown_alerts(struct html *h, struct report *r);
void shown_map(struct html *h, struct report *r, const place_list *list);
void shown_places(struct html *h, struct report *r, const place_list *list);
void shown_refused(struct html *h, struct report *r);
void shown_asked(struct html *h, struct report *r);
void shown_runs(struct html *h, struct report *r);
void shown_files(struct html *h, struct report *r);
void shown_secrets(struct html *h, struct report *r);
void shown_changes(struct html *h, struct report *r);
void shown_limits(struct html *h, struct report *r);
/* ".membrane.yaml:3", for a cell; empty where nothing is known. */
struct str shown_rule(struct arena *a, struct str source, uint64_t line);

/*
 * A page has a bound, and each section what the ones before it left: bytes of
 * the page at which it says what is left out.
 */
#define SHOWN_ROOM(h, bytes) ((h)->out->n < (bytes))
#define SHOWN_MAP	     150000u
#define SHOWN_REFUSED	     280000u
#define SHOWN_ASKED	     330000u
#define SHOWN_RUNS	     560000u
#define SHOWN_FILES	     880000u
#define SHOWN_SECRETS	     930000u
#define SHOWN_CHANGES	     970000u

#endif
