/* The words that the policy language has for the values of the IR. */
#include "compiler/ir/ir.h"

#include <stdlib.h>

const char *ir_proto_name(enum ir_proto p)
{
	switch (p) {
	case IR_PROTO_TCP:
		return "tcp";
	case IR_PROTO_UDP:
		return "udp";
	}
	abort();
}

const char *ir_scheme_name(enum ir_scheme s)
{
	switch (s) {
	case IR_SCHEME_HTTP:
		return "http";
	case IR_SCHEME_HTTPS:
		return "https";
	}
	abort();
}

const char *ir_tls_name(enum ir_tls t)
{
	switch (t) {
	case IR_TLS_VERIFY:
		return "verify";
	case IR_TLS_INSPECT:
		return "inspect";
	}
	abort();
}

const char *ir_grant_key_name(enum ir_grant_key k)
{
	switch (k) {
	case IR_KEY_ALLOW:
		return "allow";
	case IR_KEY_ASK:
		return "ask";
	case IR_KEY_DENY:
		return "deny";
	case IR_KEY_HOSTNAMES:
		return "hostnames";
	case IR_KEY_CIDRS:
		return "cidrs";
	}
	abort();
}

const char *ir_lasts_name(enum ir_lasts l)
{
	switch (l) {
	case IR_LASTS_ONCE:
		return "once";
	case IR_LASTS_SESSION:
		return "session";
	case IR_LASTS_ALWAYS:
		return "always";
	}
	abort();
}

const char *ir_engine_name(enum ir_engine e)
{
	switch (e) {
	case IR_ENGINE_AUTO:
		return "auto";
	case IR_ENGINE_DOCKER:
		return "docker";
	case IR_ENGINE_NATIVE:
		return "native";
	}
	abort();
}

const char *ir_runtime_name(enum ir_runtime r)
{
	switch (r) {
	case IR_RUNTIME_RUNC:
		return "runc";
	case IR_RUNTIME_SYSBOX:
		return "sysbox-runc";
	case IR_RUNTIME_KATA:
		return "kata";
	}
	abort();
}

const char *ir_masks_name(enum ir_masks m)
{
	switch (m) {
	case IR_MASKS_HOLD:
		return "hold";
	case IR_MASKS_START:
		return "start";
	}
	abort();
}

const char *ir_home_name(enum ir_home h)
{
	switch (h) {
	case IR_HOME_SHARED:
		return "shared";
	case IR_HOME_WORKSPACE:
		return "workspace";
	case IR_HOME_NONE:
		return "none";
	}
	abort();
}

const char *ir_trace_engine_name(enum ir_trace_engine e)
{
	switch (e) {
	case IR_TRACE_NATIVE:
		return "native";
	case IR_TRACE_TRACEE:
		return "tracee";
	case IR_TRACE_OFF:
		return "off";
	}
	abort();
}
