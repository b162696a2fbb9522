#include "compiler/ir/native.h"

enum { FULL = 0, DEFAULT = 1, SOMEWHERE = 2, ASKED = 4 };

static const struct native_event events[] = {
#define EVENT(name, set)                                                       \
	{#name, ((set)&DEFAULT) != 0, ((set)&SOMEWHERE) != 0,                  \
	 ((set)&ASKED) != 0},
#define CALL(...)
#define ARG(...)
#define FIELD(...)
#include "grammar/native-events.def"
#undef EVENT
#undef CALL
#undef FIELD
#undef ARG
};

static const struct native_call calls[] = {
#define EVENT(...)
#define CALL(name, event, ...) {#name, #event},
#define ARG(...)
#define FIELD(...)
#include "grammar/native-events.def"
#undef EVENT
#undef CALL
#undef FIELD
#undef ARG
};

const struct native_call *native_call_at(size_t i)
{
	return i < ARRAY_LEN(calls) ? &calls[i] : NULL;
}

const struct native_event *native_event_at(size_t i)
{
	return i < ARRAY_LEN(events) ? &events[i] : NULL;
}

const struct native_event *native_event_named(struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(events); i++)
		if (str_is(name, events[i].name))
			return &events[i];
	return NULL;
}

const char *native_event_meant(struct str name)
{
	static const char *const others[][2] = {
		{"exec", "sched_process_exec"},
		{"fork", "sched_process_fork"},
		{"vfork", "sched_process_fork"},
		{"exit", "sched_process_exit"},
		{"exit_group", "sched_process_exit"},
		{"file", "security_file_open"},
		{"open", "security_file_open"},
		{"openat", "security_file_open"},
		{"openat2", "security_file_open"},
		{"creat", "security_file_open"},
		{"unlink", "security_inode_unlink"},
		{"unlinkat", "security_inode_unlink"},
		{"rename", "security_inode_rename"},
		{"renameat", "security_inode_rename"},
		{"renameat2", "security_inode_rename"},
		{"symlink", "security_inode_symlink"},
		{"symlinkat", "security_inode_symlink"},
		{"connect", "security_socket_connect"},
		{"net_tcp_connect", "security_socket_connect"},
		{"bind", "security_socket_bind"},
		{"listen", "security_socket_listen"},
		{"accept", "security_socket_accept"},
		{"accept4", "security_socket_accept"},
		{"send", "sendto"},
		{"dns", "net_packet_dns_request"},
		{"net_packet_dns", "net_packet_dns_request"},
	};

	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (str_is(name, others[i][0]))
			return others[i][1];
	return NULL;
}

bool native_field(struct str name)
{
	static const char *const fields[] = {
#define EVENT(...)
#define CALL(...)
#define ARG(...)
#define FIELD(name, id) #name,
#include "grammar/native-events.def"
#undef EVENT
#undef CALL
#undef FIELD
#undef ARG
	};

	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		if (str_is(name, fields[i]))
			return true;
	return false;
}
