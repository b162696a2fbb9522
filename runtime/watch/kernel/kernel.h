/*
 * The parts of the kernel's structures that are read: CO-RE fits the offsets
 * to the kernel that loads the programs, so only names and types count.
 */
#ifndef RUNTIME_WATCH_KERNEL_KERNEL_H
#define RUNTIME_WATCH_KERNEL_KERNEL_H

typedef unsigned char __u8;
typedef signed char __s8;
typedef unsigned short __u16;
typedef short __s16;
typedef unsigned int __u32;
typedef int __s32;
typedef unsigned long long __u64;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;
enum { false, true };

#define BPF_MAP_TYPE_HASH	  1
#define BPF_MAP_TYPE_PERCPU_ARRAY 6
#define BPF_MAP_TYPE_LRU_HASH	  9
#define BPF_MAP_TYPE_RINGBUF	  27
#define BPF_ANY			  0
#define BPF_NOEXIST		  1
#define BPF_RB_NO_WAKEUP	  1
#define BPF_RB_FORCE_WAKEUP	  2
#define BPF_RB_AVAIL_DATA	  0

#pragma clang attribute push(__attribute__((preserve_access_index)),           \
			     apply_to = record)

#ifdef __TARGET_ARCH_x86
struct pt_regs {
	unsigned long bx, bp, di, si, dx, cx, r10, r8, r9, orig_ax, ip;
};
#else
struct user_pt_regs {
	__u64 regs[31];
};
struct pt_regs {
	union {
		struct user_pt_regs user_regs;
		struct {
			__u64 regs[31], sp, pc, pstate;
		};
	};
	__u64 orig_x0;
	__s32 syscallno;
};
#endif

struct proc_ns_operations {
	const char *name;
};
struct ns_common {
	struct proc_ns_operations *ops;
	unsigned int inum;
};
struct pid_namespace {
	unsigned int level;
	struct task_struct *child_reaper;
	struct ns_common ns;
};
struct upid {
	int nr;
	struct pid_namespace *ns;
};
struct pid {
	unsigned int level;
	struct upid numbers[1];
};
struct mnt_namespace {
	struct ns_common ns;
};
struct net {
	struct ns_common ns;
};
struct new_utsname {
	char nodename[65];
};
struct uts_namespace {
	struct new_utsname name;
};
struct nsproxy {
	struct uts_namespace *uts_ns;
	struct mnt_namespace *mnt_ns;
	struct net *net_ns;
};

struct qstr {
	__u32 hash, len;
	const unsigned char *name;
};
struct super_block {
	__u32 s_dev;
	unsigned long s_magic;
};
struct inode {
	unsigned short i_mode;
	struct super_block *i_sb;
	unsigned long i_ino;
	void *i_private;
};
struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
	struct inode *d_inode;
};
struct vfsmount {
	struct dentry *mnt_root;
};
struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
};
struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};
struct file {
	unsigned int f_mode, f_flags;
	struct path f_path;
	struct inode *f_inode;
	void *private_data;
};
struct filename {
	const char *name;
};
struct open_flags {
	int open_flag;
};
struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};
struct files_struct {
	struct fdtable *fdt;
};
struct fs_struct {
	struct path root, pwd;
};

struct in6_addr {
	union {
		__u8 u6_addr8[16];
	} in6_u;
};
struct sock_common {
	__be32 skc_daddr, skc_rcv_saddr;
	__be16 skc_dport;
	__u16 skc_num;
	unsigned short skc_family;
	struct in6_addr skc_v6_daddr, skc_v6_rcv_saddr;
};
struct sock {
	struct sock_common __sk_common;
	__u16 sk_type;
};
struct inet_sock {
	__be16 inet_sport;
};
struct socket {
	short type;
	struct sock *sk;
};

struct msghdr {
	void *msg_name;
	int msg_namelen;
	unsigned int msg_flags;
};

struct io_cqe {
	__u64 user_data;
};
struct io_ring_ctx;
struct io_kiocb {
	struct file *file;
	__u8 opcode;
	void *async_data; /* what was copied, when it was asked */
	struct io_cqe cqe;
	struct io_ring_ctx *ctx;
};
struct io_accept {
	__u32 iou_flags;
};
struct __kernel_sockaddr_storage {
	unsigned short ss_family;
};
struct io_async_msghdr {
	struct msghdr msg;
	struct __kernel_sockaddr_storage addr;
};
struct io_async_connect { /* before 6.10: nothing was copied so early */
	struct __kernel_sockaddr_storage address;
};
struct open_how {
	__u64 flags;
};
struct io_open {
	int dfd;
	__u32 file_slot; /* in the ring's own table, from 1 */
	struct filename *filename;
	struct open_how how;
};
struct io_unlink {
	int dfd;
	struct filename *filename;
};
struct io_mkdir {
	int dfd;
	struct filename *filename;
};
struct io_rename {
	int old_dfd, new_dfd;
	struct filename *oldpath, *newpath;
};
struct io_link {
	int old_dfd, new_dfd;
	struct filename *oldpath, *newpath;
};
struct io_connect {
	void *addr;
	int addr_len;
};
struct io_sr_msg {
	void *umsg;
	unsigned int msg_flags;
};
struct io_sr_msg___old { /* before 6.12 */
	void *addr;
	__u16 addr_len;
};
struct io_bind {
	int addr_len;
};
struct io_listen {
	int backlog;
};
struct io_ftrunc {
	long long len;
};
struct io_uring_cqe {
	__u64 user_data;
	__s32 res;
};

struct cred;
struct user_namespace;

struct kernfs_node {
	const char *name;
};
struct cgroup {
	struct kernfs_node *kn;
};
struct cgroup_subsys_state {
	struct cgroup *cgroup;
};
struct css_set {
	struct cgroup_subsys_state *subsys[1];
	struct cgroup *dfl_cgrp;
};

struct mm_struct {
	unsigned long arg_start, arg_end;
};
struct linux_binprm {
	struct file *file;
	const char *filename, *interp;
};
typedef struct {
	int counter;
} atomic_t;
struct signal_struct {
	atomic_t live;
};
#ifdef __TARGET_ARCH_x86
struct thread_info {
	__u32 status;
};
#endif
struct task_struct {
#ifdef __TARGET_ARCH_x86
	struct thread_info thread_info;
#endif
	unsigned int flags;
	int pid, tgid, exit_code;
	struct task_struct *real_parent, *group_leader;
	struct pid *thread_pid;
	__u64 start_boottime;
	struct nsproxy *nsproxy;
	struct fs_struct *fs;
	struct files_struct *files;
	struct css_set *cgroups;
	struct mm_struct *mm;
	struct signal_struct *signal;
	char comm[16];
};

#pragma clang attribute pop

#endif
