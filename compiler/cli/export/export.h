/*
 * `membrane trace export`: what a session did, for other tools: OpenTelemetry's
 * logs and spans (OTLP 1.x in its JSON encoding), or events of the Open
 * Cybersecurity Schema Framework (OCSF 1.x). One JSON object a line.
 *
 * Texts are cleaned as for a terminal, with secrets as '*', and cut: what an
 * agent names goes into somebody's console by way of these, too.
 */
#ifndef COMPILER_CLI_EXPORT_EXPORT_H
#define COMPILER_CLI_EXPORT_EXPORT_H

#include "compiler/cli/frame/options.h"

/* what: a session or a file, as traces_find() takes it. The exit status. */
must_check int export_trace(struct arena *a, const struct options *o,
			    const char *state, struct str what);

#endif
