/*
 * What the host changes, told to the kernel that has it from us: it asks anew.
 */
#ifndef RUNTIME_VIEW_INVALIDATE_H
#define RUNTIME_VIEW_INVALIDATE_H

#include "runtime/view/view.h"

/*
 * Pass on what the watches have heard. Without v's lock, and in a thread that
 * answers no request: the kernel may wait for one meanwhile.
 */
void invalidate_changed(struct view *v);

#endif
