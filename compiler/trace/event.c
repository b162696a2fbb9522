#include "compiler/trace/event.h"

#include <stdlib.h>

struct str trace_arg(const struct trace_event *e, const char *key)
{
	for (uint32_t i = 0; i < e->n; i++)
		if (str_is(e->leaf[i].key, key))
			return e->leaf[i].text;
	return (struct str){0};
}

int64_t trace_number(const struct trace_event *e, const char *key,
		     int64_t otherwise)
{
	struct str text = trace_arg(e, key);
	bool negative = str_starts(text, STR("-"));
	uint64_t v;

	if (!str_u64(str_slice(text, negative, text.n), INT64_MAX, &v))
		return otherwise;
	return negative ? -(int64_t)v : (int64_t)v;
}

struct trace_exit trace_exit(const struct trace_event *e)
{
	int64_t code = trace_number(e, "exit_code", 0);
	int64_t signal = trace_number(e, "signal_code", -1);

	/* Before 0.23 Tracee wrote the kernel's own word, as wait(2) has it. */
	if (signal < 0)
		return (struct trace_exit){(code >> 8) & 0xff, code & 0x7f};
	return (struct trace_exit){code, signal};
}

/* --- what it is about ----------------------------------------------------- */

static struct str first_of(const struct trace_event *e, const char *const *keys,
			   size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct str s = trace_arg(e, keys[i]);

		if (s.n)
			return s;
	}
	return (struct str){0};
}

struct trace_object trace_object(const struct trace_event *e)
{
	static const char *const paths[] = {
		"pathname", "old_path", "linkpath", "oldpath",	 "path",
		"target",   "new_root", "filename", "from_path", "pathname_",
	};
	static const char *const addrs[] = {
		"remote_addr.sin_addr",
		"remote_addr.sin6_addr",
		"remote_addr.sun_path",
		"local_addr.sin_addr",
		"local_addr.sin6_addr",
		"local_addr.sun_path",
		"dest_addr.sin_addr",
		"dest_addr.sin6_addr",
		"dst",
	};
	static const char *const ports[] = {
		"remote_addr.sin_port",
		"remote_addr.sin6_port",
		"local_addr.sin_port",
		"local_addr.sin6_port",
		"dest_addr.sin_port",
		"dest_addr.sin6_port",
		"dst_port",
	};
	static const char *const names[] = {
		"dns_questions.query",
		"dns_response.query_data.query",
		"proto_dns.questions.name",
		"http_request.host",
	};
	struct trace_object o = {
		.path = first_of(e, paths, ARRAY_LEN(paths)),
		.addr = first_of(e, addrs, ARRAY_LEN(addrs)),
		.name = first_of(e, names, ARRAY_LEN(names)),
	};
	uint64_t port;

	if (str_u64(first_of(e, ports, ARRAY_LEN(ports)), UINT16_MAX, &port))
		o.port = (uint16_t)port;
	return o;
}

bool trace_is_answer(const struct trace_event *e)
{
	return str_is(e->name, "net_packet_dns_response");
}

/* --- kinds ---------------------------------------------------------------- */

static const char *const kinds[] = {
	[TRACE_EXEC] = "exec",	     [TRACE_FORK] = "fork",
	[TRACE_EXIT] = "exit",	     [TRACE_FILE] = "file",
	[TRACE_CONNECT] = "connect", [TRACE_LISTEN] = "listen",
	[TRACE_SEND] = "send",	     [TRACE_DNS] = "dns",
	[TRACE_ATTEMPT] = "attempt", [TRACE_ITSELF] = "trace",
	[TRACE_OTHER] = "other",
};

const char *trace_kind_name(enum trace_kind k)
{
	return kinds[k];
}

static const struct {
	const char *name;
	enum trace_kind kind;
} known[] = {
	{"sched_process_exec", TRACE_EXEC},
	{"execve", TRACE_EXEC},
	{"execveat", TRACE_EXEC},
	{"sched_process_fork", TRACE_FORK},
	{"sched_process_exit", TRACE_EXIT},
	{"security_file_open", TRACE_FILE},
	{"open", TRACE_FILE},
	{"openat", TRACE_FILE},
	{"openat2", TRACE_FILE},
	{"creat", TRACE_FILE},
	{"security_inode_unlink", TRACE_FILE},
	{"security_inode_rename", TRACE_FILE},
	{"security_inode_symlink", TRACE_FILE},
	{"security_inode_mknod", TRACE_FILE},
	{"unlink", TRACE_FILE},
	{"unlinkat", TRACE_FILE},
	{"rename", TRACE_FILE},
	{"renameat", TRACE_FILE},
	{"renameat2", TRACE_FILE},
	{"link", TRACE_FILE},
	{"linkat", TRACE_FILE},
	{"symlink", TRACE_FILE},
	{"symlinkat", TRACE_FILE},
	{"mkdir", TRACE_FILE},
	{"mkdirat", TRACE_FILE},
	{"rmdir", TRACE_FILE},
	{"mknod", TRACE_FILE},
	{"mknodat", TRACE_FILE},
	{"chmod", TRACE_FILE},
	{"fchmod", TRACE_FILE},
	{"fchmodat", TRACE_FILE},
	{"chown", TRACE_FILE},
	{"lchown", TRACE_FILE},
	{"fchown", TRACE_FILE},
	{"fchownat", TRACE_FILE},
	{"truncate", TRACE_FILE},
	{"ftruncate", TRACE_FILE},
	{"security_socket_connect", TRACE_CONNECT},
	{"connect", TRACE_CONNECT},
	{"net_tcp_connect", TRACE_CONNECT},
	{"security_socket_bind", TRACE_LISTEN},
	{"security_socket_listen", TRACE_LISTEN},
	{"security_socket_accept", TRACE_LISTEN},
	{"sendto", TRACE_SEND},
	{"sendmsg", TRACE_SEND},
	{"sendmmsg", TRACE_SEND},
	{"net_packet_dns", TRACE_DNS},
	{"net_packet_dns_request", TRACE_DNS},
	{"net_packet_dns_response", TRACE_DNS},
	{"mount", TRACE_ATTEMPT},
	{"umount2", TRACE_ATTEMPT},
	{"pivot_root", TRACE_ATTEMPT},
	{"chroot", TRACE_ATTEMPT},
	{"open_tree", TRACE_ATTEMPT},
	{"move_mount", TRACE_ATTEMPT},
	{"fsopen", TRACE_ATTEMPT},
	{"fsmount", TRACE_ATTEMPT},
	{"mount_setattr", TRACE_ATTEMPT},
	{"ptrace", TRACE_ATTEMPT},
	{"process_vm_readv", TRACE_ATTEMPT},
	{"process_vm_writev", TRACE_ATTEMPT},
	{"bpf", TRACE_ATTEMPT},
	{"perf_event_open", TRACE_ATTEMPT},
	{"userfaultfd", TRACE_ATTEMPT},
	{"io_uring_setup", TRACE_ATTEMPT},
	{"init_module", TRACE_ATTEMPT},
	{"finit_module", TRACE_ATTEMPT},
	{"delete_module", TRACE_ATTEMPT},
	{"kexec_load", TRACE_ATTEMPT},
	{"kexec_file_load", TRACE_ATTEMPT},
	{"unshare", TRACE_ATTEMPT},
	{"setns", TRACE_ATTEMPT},
	{"memfd_create", TRACE_ATTEMPT},
	{"cap_capable", TRACE_ATTEMPT},
	{"commit_creds", TRACE_ATTEMPT},
	{"membrane_start", TRACE_ITSELF},
	{"membrane_end", TRACE_ITSELF},
};

enum trace_kind trace_kind(const struct trace_event *e)
{
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (str_is(e->name, known[i].name))
			return known[i].kind;
	return TRACE_OTHER;
}
