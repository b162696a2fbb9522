/*
 * One look over a workspace: what has to be hidden, and what kept as it is.
 *
 * Reads only. Directories are opened one by one, relative to each other, and
 * no symbolic link is followed on the way; other file systems mounted below
 * the workspace are looked at too. What becomes of the result (order, pins,
 * mount words) is for masks.h, paths that do not exist yet for placeholders.h.
 * The rules are those of doc/semantics.md, section 5.
 */
#ifndef RUNTIME_LAUNCH_WORKSPACE_SCAN_H
#define RUNTIME_LAUNCH_WORKSPACE_SCAN_H

#include "compiler/plan/mountsplan.h"

/* The strongest first: of two for one path the first holds. */
enum mask_kind {
	MASK_IGNORE_DIR,
	MASK_IGNORE_FILE, /* anything that is no directory */
	MASK_READONLY_DIR,
	MASK_READONLY_FILE,
	MASK_PIN_DIR, /* on itself, so that it cannot be renamed */
};

struct mask {
	struct str path; /* relative to the workspace, no link in it */
	enum mask_kind kind;
	bool hold;     /* it stands in a hold line */
	bool submount; /* a mount of the host inside a readonly tree */
	bool by_link;  /* a symbolic link led here */
	/* masks.h, of none in a scan: its source, O_PATH; or where it goes. */
	int fd;
	uint64_t dev, ino;
};

enum scan_note_kind {
	SCAN_NOTE_UNREADABLE,  /* masked whole; error says why */
	SCAN_NOTE_TOO_DEEP,    /* masked whole: SCAN_DEPTH, or too long */
	SCAN_NOTE_LINK_ABOVE,  /* a matching link to a directory it is in */
	SCAN_NOTE_LINK_FREE,   /* readonly, but a link: may be replaced */
	SCAN_NOTE_HOLD_OUT,    /* a hold through a link that leads out */
	SCAN_NOTE_HOLD_DENIED, /* may not be made; its directory is kept */
	SCAN_NOTE_STATE,       /* membrane's own folder; masked */
};

struct scan_note {
	enum scan_note_kind kind;
	struct str path;
	int error; /* errno, or 0 */
};

/* A clause about the path: "cannot be read, so it is hidden whole". */
const char *scan_note_text(enum scan_note_kind kind);

typedef VEC(struct str) scan_paths;

struct scan {
	VEC(struct mask) masks; /* as found: unsorted, with repetitions */
	VEC(struct scan_note) notes;
	/* What may belong to repositories: folders with a HEAD in them, and
	 * each .git that is no folder; not what masks hide. */
	scan_paths heads, gitlinks;
	bool readonly;	  /* the whole workspace: scan_is_readonly() */
	const int *moves; /* of moves.h: watches each folder; NULL: none */
	bool hidden_link; /* some symbolic link has a name that is hidden */
	uint64_t entries; /* looked at, not counting what masks hide */
};

/* Directories below the workspace that are entered; deeper is masked. */
#define SCAN_DEPTH 250

/*
 * May the user not write to this folder? Then the command must not either: the
 * workspace is mounted read-only, whole.
 */
must_check bool scan_is_readonly(const char *workspace);
/*
 * Look over the workspace. Where out->readonly is set before, nothing needs to
 * be kept as it is but other file systems that are mounted below. Where
 * out->moves is, all that is entered and not hidden is watched before it is read.
 *
 * root       its directory, open for reading; borrowed
 * root_path  its absolute, real path: what absolute links are compared with
 * plan       patterns; borrowed
 *
 * On 0 *out is filled, in the arena. Anything that is found unreadable is in
 * the masks and in the notes, and no error; an error is only
 *   -EMFILE, -ENFILE, -ENOMEM, -EIO …  the workspace itself cannot be read
 *   -ENOSPC  no more folders may be watched
 */
must_check int scan_workspace(struct arena *a, int root, struct str root_path,
			      const struct mountsplan *plan, struct scan *out,
			      struct err *err);

#endif
