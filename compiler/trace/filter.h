/*
 * Expressions over the records of a trace: grammar/filter.y.
 *
 *	event == exec and comm != "git"
 *	path ~ "*.pem" and not (comm in [git, node])
 *	addr in 10.0.0.0/8 or port == 22
 *	args.flags >= 64 and path =~ "\.(pem|key)$"
 *
 * `==` compares texts, numbers and addresses, `~` is a glob ('*' within a
 * segment, '**' across), `=~` an extended regular expression (POSIX), `in` a
 * list or a network. `event` is the name or the kind ("exec", "file",
 * "connect"). A field that an event does not have is empty: it equals nothing
 * but "". What could never match (text for a number, an event or an address
 * that is none) is an error.
 */
#ifndef COMPILER_TRACE_FILTER_H
#define COMPILER_TRACE_FILTER_H

#include "compiler/base/diag.h"

struct filter;

/* The i-th name of an event that there can be; empty behind the last. */
typedef struct str filter_event_at(size_t i);

/*
 * text: as written on the command line; added to sources as "<expression>" so
 * that errors show it. NULL after reporting. The filter is the arena's, but
 * for regular expressions: filter_done() lets go of them. event_at: besides
 * the kinds; NULL takes any name.
 */
struct filter *filter_parse(struct diags *d, struct sources *sources,
			    struct str text, filter_event_at *event_at);
void filter_done(struct filter *f);

#endif
