/*
 * What sentinels stand for, as HAProxy knows it: a map whose keys are a
 * credential's number and a sentinel's digits, "2:0123…".
 *
 * The file has secrets in it. It lies in the gate's own memory, in a folder
 * that only HAProxy and the gate can enter.
 */
#ifndef RUNTIME_GATE_L7_TOKENS_H
#define RUNTIME_GATE_L7_TOKENS_H

#include "runtime/gate/l7/hello.h"

#include <cjson/cJSON.h>

/* As the map that an HAProxy which is about to start begins with. */
must_check int tokens_file(const struct hello_credentials *c, const char *path,
			   struct err *err);

/* Tell a running HAProxy all of them. */
must_check int tokens_tell(const struct hello_credentials *c, const char *admin,
			   struct err *err);
/*
 * New values, {"2:DIGITS": VALUE, …}: all of them, or none and -EPROTO.
 * *err never holds a value.
 */
must_check int tokens_renew(struct hello_credentials *c, const cJSON *values,
			    struct err *err);

#endif
