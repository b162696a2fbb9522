/*
 * What needs a privilege that the worker does not have, or arguments that it
 * does not pass: nothing of it may change the machine.
 */
#define _GNU_SOURCE
#include "worker.h"

#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#define P(i) ((long)pick_path(w, i))
#define T(i) ((long)pick_text(w, i))

static long bits(struct worker *w)
{
	static const long some[] = {
		0, 1, -1, 0x7fffffff, 0x80000000L, 0x123456789abcdefL};

	return some[pick(w, 6)];
}

static void mounts(struct worker *w)
{
	switch (pick(w, 13)) {
	case 0:
	case 1:
		DO(w, mount, T(0), P(1), (long)"tmpfs", 0, 0);
		return;
	case 2:
		DO(w, umount2, P(0), MNT_DETACH);
		return;
	case 3:
		DO(w, pivot_root, P(0), P(1));
		return;
	case 4:
		DO(w, chroot, P(0));
		return;
	case 5:
		keep(w, w->dirs, DO(w, open_tree, pick_dir(w), P(0), 0x80000));
		return;
	case 6:
		DO(w, open_tree_attr, pick_dir(w), P(0), 1, 0, 0);
		return;
	case 7:
		DO(w, move_mount, pick_dir(w), P(0), pick_dir(w), P(1),
		   (long)pick(w, 2));
		return;
	case 8:
		DO(w, fsopen, T(0), bits(w));
		return;
	case 9:
		DO(w, fsconfig, -1, bits(w), T(0), bits(w), bits(w));
		return;
	case 10:
		DO(w, fspick, pick_dir(w), P(0), bits(w));
		return;
	case 11:
		DO(w, fsmount, -1, bits(w), bits(w));
		return;
	}
	DO(w, mount_setattr, pick_dir(w), P(0), 0, 1, bits(w));
}

static void processes(struct worker *w)
{
	static const long requests[] = {PTRACE_ATTACH, PTRACE_SEIZE,
					PTRACE_PEEKDATA, 9999};
	static const long pids[] = {1, 0x3ffffe, -1};
	long fd;

	switch (pick(w, 7)) {
	case 0:
	case 1:
		DO(w, ptrace, requests[pick(w, 4)], pids[pick(w, 3)], bits(w),
		   bits(w));
		return;
	case 2:
		DO(w, process_vm_readv, pids[pick(w, 3)], 0, 0, 0, 0, bits(w));
		return;
	case 3:
		DO(w, process_vm_writev, pids[pick(w, 3)], 0, 1, 0, 0, 0);
		return;
	case 4:
		DO(w, pidfd_getfd, rare(w, 2) ? -1 : 9999, bits(w), bits(w));
		return;
	case 5:
		fd = DO(w, perf_event_open, (long)w->how, 0, -1, -1, bits(w));
		break;
	default:
		fd = DO(w, userfaultfd, bits(w));
	}
	if (fd >= 0)
		close((int)fd);
}

static void kernel(struct worker *w)
{
	switch (pick(w, 14)) {
	case 0:
		DO(w, bpf, bits(w), (long)w->how, 16);
		return;
	case 1:
		DO(w, io_uring_setup, 0, (long)w->how);
		return;
	case 2:
		DO(w, init_module, bits(w), bits(w), T(0));
		return;
	case 3:
		DO(w, finit_module, w->files[pick(w, WORK_FDS)], T(0), bits(w));
		return;
	case 4:
		DO(w, delete_module, T(0), bits(w));
		return;
	case 5:
		DO(w, kexec_load, bits(w), 99, 0, bits(w));
		return;
	case 6:
		if (work_has(CALL_kexec_file_load))
			DO(w, kexec_file_load, -1, -1, 0, 0, bits(w));
		return;
	case 7:
		DO(w, acct, P(0));
		return;
	case 8:
		DO(w, swapon, P(0), bits(w));
		return;
	case 9:
		DO(w, swapoff, P(0));
		return;
	case 10:
		DO(w, reboot, bits(w), bits(w), bits(w), 0);
		return;
	case 11:
		if (work_has(CALL_iopl))
			DO(w, iopl, 3);
		return;
	case 12:
		if (work_has(CALL_ioperm))
			DO(w, ioperm, 0x80, 1, 1);
		return;
	}
	DO(w, quotactl, bits(w), T(0), bits(w), 0);
}

static void keys(struct worker *w)
{
	switch (pick(w, 3)) {
	case 0:
		snprintf(w->text[0], WORK_TEXT, "user");
		DO(w, add_key, (long)w->text[0], T(1), (long)w->data[0], 3, -1);
		return;
	case 1:
		snprintf(w->text[0], WORK_TEXT, "user");
		DO(w, request_key, (long)w->text[0], T(1), 0, 0);
		return;
	}
	DO(w, keyctl, 119, bits(w), bits(w), 0, 0);
}

static void spaces(struct worker *w)
{
	static const long some[] = {CLONE_NEWNET,  CLONE_NEWUTS,
				    CLONE_NEWIPC,  CLONE_NEWNS | CLONE_FS,
				    CLONE_SYSVSEM, 0x10};

	switch (pick(w, 5)) {
	case 0:
		DO(w, unshare, some[pick(w, 6)]);
		return;
	case 1:
		DO(w, setns, rare(w, 2) ? -1 : 9999, bits(w));
		return;
	case 2: /* refused: by capability, or as no flags that go together */
		DO(w, clone, some[pick(w, 4)] | SIGCHLD, 0, 0, 0, 0);
		return;
	case 3:
		memset(w->how, 0, sizeof(w->how));
		w->how[0] = (uint64_t)some[pick(w, 4)] | CLONE_THREAD;
		DO(w, clone3, rare(w, 4) ? 1 : (long)w->how, 64);
		return;
	}
	DO(w, open_by_handle_at, -1, 0, bits(w));
}

void do_attempts(struct worker *w)
{
	static void (*const steps[])(struct worker *) = {
		mounts, mounts, mounts, processes,
		kernel, kernel, keys,	spaces};

	steps[pick(w, sizeof(steps) / sizeof(steps[0]))](w);
}
