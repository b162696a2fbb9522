/*
 * What the policy says of a name: open, read-only or hidden.
 *
 * Pure. One automaton for all patterns with a slash, stepped folder by folder:
 * what may still match below a folder is a set of places in patterns, and a
 * folder's set comes from its parent's and its name. So no path is put together
 * to judge a name, and two folders of the same set are alike for everything
 * that may ever lie below them. Patterns without a slash are looked up by the
 * name alone.
 *
 * Everything lives in the arena. Not for two threads at once.
 */
#ifndef RUNTIME_VIEW_JUDGE_JUDGE_H
#define RUNTIME_VIEW_JUDGE_JUDGE_H

#include "compiler/plan/mountsplan.h"

/* Different sets of places; folders beyond them are hidden whole. */
#define JUDGE_SETS_MAX 65536u

/* Protected: of the home, for one program alone (who.h). */
enum judge_state {
	JUDGE_OPEN,
	JUDGE_READONLY,
	JUDGE_PROTECTED,
	JUDGE_HIDDEN,
};

/* What decided: its section, and the line in there from 0. */
enum judge_section {
	JUDGE_BY_NOTHING,
	JUDGE_BY_IGNORE,
	JUDGE_BY_READONLY,
	JUDGE_BY_HOLD,
	JUDGE_BY_PROTECT, /* of mounts.plan, as those before */
	JUDGE_BY_GIT,	  /* said at the start: read-only */
	JUDGE_BY_LINKED,  /* said at the start: of a repository elsewhere */
	JUDGE_BY_HIDE,	  /* said at the start: hidden */
	JUDGE_BY_OUTSIDE, /* of the repository, beside the workspace: hidden */
	JUDGE_BY_INODE,
	JUDGE_BY_ALL,
};
struct judge_word {
	enum judge_state state : 8;
	enum judge_section section : 8;
	uint32_t line;
};

typedef VEC(struct str) judge_paths;

struct judge_rules {
	const struct mountsplan *plan;
	judge_paths holds, hides; /* relative, no slash at either end */
	/* Patterns of what is read-only, anchored, as in a policy; NULL. */
	const struct gitignore *linked;
	bool readonly;	    /* the whole workspace */
	bool home;	    /* the home: the protected files alone */
	struct str program; /* that the session runs; may be empty */
	bool folds;	    /* the disk takes 'A' for 'a': so do patterns */
};

struct judge;
struct judge_set; /* places in patterns; equal sets are one object */

struct judge *judge_new(struct arena *a, const struct judge_rules *r);
/* Of the workspace itself. */
const struct judge_set *judge_root(const struct judge *j);
struct judge_word judge_root_word(const struct judge *j);

/*
 * A name in a folder of which dir and above were said. What is hidden hides all
 * below it, what is read-only keeps all below it from being changed: there, no
 * pattern takes anything back.
 */
struct judge_word judge_name(struct judge *j, const struct judge_set *dir,
			     struct judge_word above, struct str name,
			     bool is_dir);
/* Of the folder name. NULL: there are too many. */
const struct judge_set *judge_below(struct judge *j,
				    const struct judge_set *dir,
				    struct str name);
/*
 * Is the program that the session runs the one that this is protected for? A
 * file that several lines speak of has the word of one that says no.
 */
bool judge_serves(const struct judge *j, struct judge_word word);
/*
 * Is it a line of the built-in list for git that decided? In a folder of git's
 * that was made in the session these do not hold: a repository of the agent's
 * own has a configuration. A policy's own line, if of the same words, does.
 */
bool judge_is_gits(const struct judge *j, struct judge_word word);
/*
 * Is this name the beginning of a path that is spelled out, or does it begin
 * one with a set that another folder's differs from? The first is a folder or
 * nothing: judge_spells(). A folder may only be renamed where its set stays the
 * same; *out is what says so else.
 */
bool judge_spells(const struct judge *j, const struct judge_set *below,
		  struct judge_word *out);
bool judge_differs(const struct judge *j, const struct judge_set *from,
		   const struct judge_set *to, struct judge_word *out);

#endif
