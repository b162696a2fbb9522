/*
 * The kernel's side of the tracer: where programs start, fork and exit; the
 * rest, one back end each, is in the parts below (backend.h says which is for
 * what).
 *
 * Which processes: those whose ancestors in the tree of pid namespaces include
 * the agent's. A process cannot leave that namespace, and namespaces that it
 * makes are below it. What is copied is decided by tables that the other side
 * fills; nothing here knows the number of a system call.
 */
#define WATCH_BPF
#include "runtime/watch/kernel/kernel.h"

#include "runtime/watch/kernel/event.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* In this order: each stands on those before it. */
/* clang-format off */
#include "runtime/watch/kernel/core.bpf.h"
#include "runtime/watch/kernel/number.bpf.h"
#include "runtime/watch/kernel/path.bpf.h"
#include "runtime/watch/kernel/object.bpf.h"
#include "runtime/watch/kernel/syn.bpf.h"
#include "runtime/watch/kernel/refusal.bpf.h"
#include "runtime/watch/kernel/call.bpf.h"
#include "runtime/watch/kernel/hooks.bpf.h"
#include "runtime/watch/kernel/ring.bpf.h"
/* clang-format on */

/* --- processes ------------------------------------------------------------ */

static __always_inline void put_argv(struct message *m, struct task_struct *t)
{
	struct watch_item *i = item(m, WATCH_TEXT, WATCH_ARGV);
	__u64 beg = t->mm->arg_start;
	__u64 n = t->mm->arg_end - beg;

	if (!i)
		return;
	if (n > WATCH_ITEM_MAX - 1)
		n = WATCH_ITEM_MAX - 1;
	n &= WATCH_ITEM_MAX - 1;
	if (bpf_probe_read_user(room(m), (__u32)n, (const void *)beg) == 0)
		grow(m, i, (__u32)n);
}

static __always_inline void put_groups(struct message *m, struct task_struct *t)
{
	put_kernel_text(m, WATCH_GROUP, WATCH_FIRST,
			BPF_CORE_READ(t, cgroups, dfl_cgrp, kn, name));
	put_kernel_text(m, WATCH_GROUP, WATCH_FIRST,
			BPF_CORE_READ(t, cgroups, subsys[0], cgroup, kn, name));
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *t, int old_pid,
	     struct linux_binprm *b)
{
	struct message *m;
	struct file *f;
	bool first;

	t = PLAIN(t);
	b = PLAIN(b);
	first = learn(t);
	if (!config.settings.exec || !in_scope(t))
		return 0;
	m = begin_message(t, WATCH_EXEC);
	if (!m)
		return 0;
	f = b->file;
	put_path_of(m, &f->f_path, WATCH_PATH, WATCH_FIRST);
	put_file(m, f);
	put_kernel_text(m, WATCH_TEXT, WATCH_CMD, b->filename);
	put_kernel_text(m, WATCH_TEXT, WATCH_INTERP, b->interp);
	put_path_of(m, &t->fs->pwd, WATCH_PATH, WATCH_CWD);
	if (first)
		put_groups(m, t);
	put_argv(m, t);
	send(m);
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	struct watch_child *c;
	struct watch_item *i;
	struct message *m;
	__u32 level;

	parent = PLAIN(parent);
	child = PLAIN(child);
	if (!config.settings.fork || !in_scope(child))
		return 0;
	m = begin_message(parent, WATCH_FORK);
	if (!m)
		return 0;
	i = item(m, WATCH_CHILD, WATCH_FIRST);
	if (!i)
		return 0;
	c = room(m);
	level = child->thread_pid->level;
	c->start_ns = child->start_boottime;
	c->host_tid = (__u32)child->pid;
	c->host_pid = (__u32)child->tgid;
	c->tid = number_of(child->thread_pid, level);
	c->pid = number_of(child->group_leader->thread_pid, level);
	grow(m, i, sizeof(*c));
	send(m);
	return 0;
}

/* Processes whose last thread has been told of. */
struct ended {
	__u64 signal, start_ns;
};
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, struct ended);
	__type(value, __u8);
} ended SEC(".maps");

/* Of threads that end at once several see that none is alive: one is told as
 * the last. */
static __always_inline bool is_last(struct task_struct *t)
{
	struct ended key = {(__u64)t->signal, t->group_leader->start_boottime};
	__u8 one = 1;

	return t->signal->live.counter == 0 &&
	       bpf_map_update_elem(&ended, &key, &one, BPF_NOEXIST) == 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *t)
{
	struct message *m;

	t = PLAIN(t);
	if (config.settings.hooks && may_be_in_scope(t))
		forget();
	if (!config.settings.exit || !in_scope(t))
		return 0;
	m = begin_message(t, WATCH_EXIT);
	if (!m)
		return 0;
	m->head.args[0] = (__u64)t->exit_code;
	m->head.args[1] = is_last(t);
	send(m);
	return 0;
}
