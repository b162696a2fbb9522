#include "compiler/trace/event.h"

#include <string.h>

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

enum part { PART_PATH, PART_ADDR, PART_PORT, PART_NAME, PARTS };

/* Of several arguments that say the same part, the first in this order. */
static const struct {
	struct str key;
	enum part part;
} says[] = {
	{STR_INIT("pathname"), PART_PATH},
	{STR_INIT("old_path"), PART_PATH},
	{STR_INIT("linkpath"), PART_PATH},
	{STR_INIT("oldpath"), PART_PATH},
	{STR_INIT("path"), PART_PATH},
	{STR_INIT("target"), PART_PATH},
	{STR_INIT("new_root"), PART_PATH},
	{STR_INIT("filename"), PART_PATH},
	{STR_INIT("from_path"), PART_PATH},
	{STR_INIT("pathname_"), PART_PATH},
	{STR_INIT("remote_addr.sin_addr"), PART_ADDR},
	{STR_INIT("remote_addr.sin6_addr"), PART_ADDR},
	{STR_INIT("remote_addr.sun_path"), PART_ADDR},
	{STR_INIT("local_addr.sin_addr"), PART_ADDR},
	{STR_INIT("local_addr.sin6_addr"), PART_ADDR},
	{STR_INIT("local_addr.sun_path"), PART_ADDR},
	{STR_INIT("dest_addr.sin_addr"), PART_ADDR},
	{STR_INIT("dest_addr.sin6_addr"), PART_ADDR},
	{STR_INIT("dst"), PART_ADDR},
	{STR_INIT("remote_addr.sin_port"), PART_PORT},
	{STR_INIT("remote_addr.sin6_port"), PART_PORT},
	{STR_INIT("local_addr.sin_port"), PART_PORT},
	{STR_INIT("local_addr.sin6_port"), PART_PORT},
	{STR_INIT("dest_addr.sin_port"), PART_PORT},
	{STR_INIT("dest_addr.sin6_port"), PART_PORT},
	{STR_INIT("dst_port"), PART_PORT},
	{STR_INIT("dns_questions.query"), PART_NAME},
	{STR_INIT("dns_response.query_data.query"), PART_NAME},
	{STR_INIT("proto_dns.questions.name"), PART_NAME},
	{STR_INIT("http_request.host"), PART_NAME},
};

/* Keys of an object are looked up for each event: by their lengths first. */
static bool same_text(struct str a, struct str b)
{
	return a.n == b.n && memcmp(a.p, b.p, a.n) == 0;
}

struct trace_object trace_object(const struct trace_event *e)
{
	struct str found[PARTS] = {0};
	size_t rank[PARTS] = {ARRAY_LEN(says), ARRAY_LEN(says), ARRAY_LEN(says),
			      ARRAY_LEN(says)};
	struct trace_object o;
	uint64_t port;

	for (uint32_t i = 0; i < e->n; i++)
		for (size_t k = 0; e->leaf[i].text.n && k < ARRAY_LEN(says);
		     k++) {
			if (!same_text(e->leaf[i].key, says[k].key))
				continue;
			if (k < rank[says[k].part]) {
				rank[says[k].part] = k;
				found[says[k].part] = e->leaf[i].text;
			}
			break;
		}
	o = (struct trace_object){.path = found[PART_PATH],
				  .addr = found[PART_ADDR],
				  .name = found[PART_NAME]};
	if (str_u64(found[PART_PORT], UINT16_MAX, &port))
		o.port = (uint16_t)port;
	return o;
}

bool trace_is_answer(const struct trace_event *e)
{
	return str_is(e->name, "net_packet_dns_response");
}

/* As trace_kind() has it, which takes longer to say so. */
bool trace_is_own(const struct trace_event *e)
{
	return str_starts(e->name, STR("membrane_"));
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
	struct str name;
	enum trace_kind kind;
} known[] = {
	{STR_INIT("sched_process_exec"), TRACE_EXEC},
	{STR_INIT("execve"), TRACE_EXEC},
	{STR_INIT("execveat"), TRACE_EXEC},
	{STR_INIT("sched_process_fork"), TRACE_FORK},
	{STR_INIT("sched_process_exit"), TRACE_EXIT},
	{STR_INIT("security_file_open"), TRACE_FILE},
	{STR_INIT("open"), TRACE_FILE},
	{STR_INIT("openat"), TRACE_FILE},
	{STR_INIT("openat2"), TRACE_FILE},
	{STR_INIT("creat"), TRACE_FILE},
	{STR_INIT("security_inode_unlink"), TRACE_FILE},
	{STR_INIT("security_inode_rename"), TRACE_FILE},
	{STR_INIT("security_inode_symlink"), TRACE_FILE},
	{STR_INIT("security_inode_mknod"), TRACE_FILE},
	{STR_INIT("unlink"), TRACE_FILE},
	{STR_INIT("unlinkat"), TRACE_FILE},
	{STR_INIT("rename"), TRACE_FILE},
	{STR_INIT("renameat"), TRACE_FILE},
	{STR_INIT("renameat2"), TRACE_FILE},
	{STR_INIT("link"), TRACE_FILE},
	{STR_INIT("linkat"), TRACE_FILE},
	{STR_INIT("symlink"), TRACE_FILE},
	{STR_INIT("symlinkat"), TRACE_FILE},
	{STR_INIT("mkdir"), TRACE_FILE},
	{STR_INIT("mkdirat"), TRACE_FILE},
	{STR_INIT("rmdir"), TRACE_FILE},
	{STR_INIT("mknod"), TRACE_FILE},
	{STR_INIT("mknodat"), TRACE_FILE},
	{STR_INIT("chmod"), TRACE_FILE},
	{STR_INIT("fchmod"), TRACE_FILE},
	{STR_INIT("fchmodat"), TRACE_FILE},
	{STR_INIT("chown"), TRACE_FILE},
	{STR_INIT("lchown"), TRACE_FILE},
	{STR_INIT("fchown"), TRACE_FILE},
	{STR_INIT("fchownat"), TRACE_FILE},
	{STR_INIT("truncate"), TRACE_FILE},
	{STR_INIT("ftruncate"), TRACE_FILE},
	{STR_INIT("security_socket_connect"), TRACE_CONNECT},
	{STR_INIT("connect"), TRACE_CONNECT},
	{STR_INIT("net_tcp_connect"), TRACE_CONNECT},
	{STR_INIT("security_socket_bind"), TRACE_LISTEN},
	{STR_INIT("security_socket_listen"), TRACE_LISTEN},
	{STR_INIT("security_socket_accept"), TRACE_LISTEN},
	{STR_INIT("sendto"), TRACE_SEND},
	{STR_INIT("sendmsg"), TRACE_SEND},
	{STR_INIT("sendmmsg"), TRACE_SEND},
	{STR_INIT("net_packet_dns"), TRACE_DNS},
	{STR_INIT("net_packet_dns_request"), TRACE_DNS},
	{STR_INIT("net_packet_dns_response"), TRACE_DNS},
	{STR_INIT("mount"), TRACE_ATTEMPT},
	{STR_INIT("umount2"), TRACE_ATTEMPT},
	{STR_INIT("pivot_root"), TRACE_ATTEMPT},
	{STR_INIT("chroot"), TRACE_ATTEMPT},
	{STR_INIT("open_tree"), TRACE_ATTEMPT},
	{STR_INIT("move_mount"), TRACE_ATTEMPT},
	{STR_INIT("fsopen"), TRACE_ATTEMPT},
	{STR_INIT("fsmount"), TRACE_ATTEMPT},
	{STR_INIT("mount_setattr"), TRACE_ATTEMPT},
	{STR_INIT("ptrace"), TRACE_ATTEMPT},
	{STR_INIT("process_vm_readv"), TRACE_ATTEMPT},
	{STR_INIT("process_vm_writev"), TRACE_ATTEMPT},
	{STR_INIT("bpf"), TRACE_ATTEMPT},
	{STR_INIT("perf_event_open"), TRACE_ATTEMPT},
	{STR_INIT("userfaultfd"), TRACE_ATTEMPT},
	{STR_INIT("open_by_handle_at"), TRACE_ATTEMPT},
	{STR_INIT("io_uring_setup"), TRACE_ATTEMPT},
	{STR_INIT("init_module"), TRACE_ATTEMPT},
	{STR_INIT("finit_module"), TRACE_ATTEMPT},
	{STR_INIT("delete_module"), TRACE_ATTEMPT},
	{STR_INIT("kexec_load"), TRACE_ATTEMPT},
	{STR_INIT("kexec_file_load"), TRACE_ATTEMPT},
	{STR_INIT("unshare"), TRACE_ATTEMPT},
	{STR_INIT("setns"), TRACE_ATTEMPT},
	{STR_INIT("fsconfig"), TRACE_ATTEMPT},
	{STR_INIT("fspick"), TRACE_ATTEMPT},
	{STR_INIT("pidfd_getfd"), TRACE_ATTEMPT},
	{STR_INIT("acct"), TRACE_ATTEMPT},
	{STR_INIT("swapon"), TRACE_ATTEMPT},
	{STR_INIT("swapoff"), TRACE_ATTEMPT},
	{STR_INIT("reboot"), TRACE_ATTEMPT},
	{STR_INIT("iopl"), TRACE_ATTEMPT},
	{STR_INIT("ioperm"), TRACE_ATTEMPT},
	{STR_INIT("quotactl"), TRACE_ATTEMPT},
	{STR_INIT("add_key"), TRACE_ATTEMPT},
	{STR_INIT("request_key"), TRACE_ATTEMPT},
	{STR_INIT("keyctl"), TRACE_ATTEMPT},
	{STR_INIT("clone"), TRACE_ATTEMPT},
	{STR_INIT("clone3"), TRACE_ATTEMPT},
	{STR_INIT("memfd_create"), TRACE_ATTEMPT},
	{STR_INIT("cap_capable"), TRACE_ATTEMPT},
	{STR_INIT("commit_creds"), TRACE_ATTEMPT},
	{STR_INIT("membrane_start"), TRACE_ITSELF},
	{STR_INIT("membrane_end"), TRACE_ITSELF},
};

enum trace_kind trace_kind(const struct trace_event *e)
{
	enum trace_kind kind = TRACE_OTHER;

	for (size_t i = 0; i < ARRAY_LEN(known) && kind == TRACE_OTHER; i++)
		if (same_text(e->name, known[i].name))
			kind = known[i].kind;
	/* The program goes on as what it was. */
	return kind == TRACE_EXEC && e->ret < 0 ? TRACE_ATTEMPT : kind;
}

struct str trace_known(size_t i)
{
	return i < ARRAY_LEN(known) ? known[i].name : STR("");
}
