/*
 * The keys that leave a session running: found in what is typed, and kept from
 * it. Pure.
 */
#ifndef RUNTIME_LAUNCH_ATTACH_DETACH_H
#define RUNTIME_LAUNCH_ATTACH_DETACH_H

#include "compiler/base/str.h"

#define DETACH_MAX     16u
#define DETACH_DEFAULT "ctrl-p,ctrl-q"

struct detach {
	unsigned char keys[DETACH_MAX];
	size_t n;
	size_t matched; /* so many of them were typed, and are held back */
};

/*
 * "ctrl-p,ctrl-q" as Docker has it: keys with commas, each a character or
 * ctrl- with one of a-z @ [ \ ] ^ _. False when it is not.
 */
must_check bool detach_parse(struct str text, struct detach *out);
/*
 * What was typed, and how much of it goes on: into out, which has room for
 * typed.n + DETACH_MAX bytes. True when the last key came; nothing of the keys
 * or behind them goes on then.
 */
must_check bool detach_take(struct detach *d, struct str typed, char *out,
			    size_t *out_n);

#endif
