/*
 * The launcher's first line: {"version":1,"session":"ID","host":["ADDR",...],
 * "credentials":{"1":"value","2:DIGITS":"value",...},
 * "proxy":{"addr":"ADDR","port":3128,"login":"USER:PASSWORD"}}; the last
 * members only when there are any. "trial":true is of a gate that has no agent.
 *
 * Pure. The values are secrets: they are for HAProxy's environment and its map
 * of sentinels, and for nothing else.
 */
#ifndef RUNTIME_GATE_L7_HELLO_H
#define RUNTIME_GATE_L7_HELLO_H

#include "compiler/plan/gate.h"
#include "runtime/gate/plan/names.h"

#include <cjson/cJSON.h>

/* In a Pod, in the environment: the session's name, and the addresses of its
 * node with commas between them. */
#define HELLO_POD_SESSION "MEMBRANE_SESSION"
#define HELLO_POD_HOSTS	  "MEMBRANE_HOSTS"

#define HELLO_BYTES_MAX	      65536u /* of the line; what a pipe holds */
#define HELLO_CREDENTIALS_MAX 64u
#define HELLO_LOGIN_MAX	      1024u /* bytes */
#define HELLO_VALUE_MAX	      4096u /* bytes */

/* What a sentinel stands for, to the host of a credential. */
struct hello_token {
	uint32_t n;
	char digits[GATE_SENTINEL_DIGITS + 1];
	char value[HELLO_VALUE_MAX + 1];
};

/* As they go into an environment: "MEMBRANE_CREDENTIAL_1=value". */
struct hello_credentials {
	char v[HELLO_CREDENTIALS_MAX]
	      [sizeof(GATE_ENV_SECRET) + 8 + HELLO_VALUE_MAX];
	uint32_t n;
	struct hello_token tokens[HELLO_CREDENTIALS_MAX];
	uint32_t n_tokens;
	char login[HELLO_LOGIN_MAX + 1]; /* of the proxy; empty: none */
	bool trial;
};

/*
 * Add the host's addresses to *hosts, and the credentials to *out. -EPROTO for
 * anything else than the line above: an address that does not parse, a value
 * that is empty, too long or has a control byte. *err never holds a value.
 */
must_check int hello_parse(struct str line, struct names_hosts *hosts,
			   struct hello_credentials *out, struct err *err);
/*
 * The same without a launcher: of HELLO_POD_SESSION, HELLO_POD_HOSTS, and of
 * the files in folder secrets (NULL: there are none), each called as its number
 * and with its value, which a line feed may end. They may lie as a Secret is
 * mounted (planfile_folder()).
 */
must_check int hello_pod(const char *secrets, struct names_hosts *hosts,
			 struct hello_credentials *out, struct err *err);
/* The session's name, behind that. */
const char *hello_pod_session(void);
/* What a tree of the line holds of secrets is memory that others get next. */
void hello_wipe(cJSON *tree);
/* True when every variable that the text mentions is there. */
bool hello_covers(const struct hello_credentials *c, struct str text);
/* Overwrite all of it. */
void hello_forget(struct hello_credentials *c);

#endif
