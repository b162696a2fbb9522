/*
 * What a person at a terminal is told of what takes long: one line, which goes
 * before anything else is printed.
 */
#ifndef RUNTIME_LAUNCH_LOOP_PROGRESS_H
#define RUNTIME_LAUNCH_LOOP_PROGRESS_H

struct loop;

/* Where r->progress has it, and there is no such line yet. */
void progress_tell(struct loop *r, const char *what);
void progress_clear(struct loop *r);

#endif
