/*
 * A process of the agent's that waits for an answer: who it is, and what lies
 * in its memory. What is read is what it has there now: until the kernel reads
 * it another of its threads may put something else in its place.
 *
 * Takes CAP_SYS_PTRACE in the process's user namespace for one that has made
 * itself unreadable (PR_SET_DUMPABLE), and /proc of a namespace of processes
 * that it is in. What cannot be read is no error of the caller's: it says so.
 */
#ifndef RUNTIME_WATCH_ASKED_PROCESS_H
#define RUNTIME_WATCH_ASKED_PROCESS_H

#include "runtime/watch/kernel/event.h"

#include "compiler/base/str.h"

#include <sys/types.h>

/* Who asks, into a head whose host_tid is filled: as this namespace counts
 * (host_*) and as its own does. False: it is gone. */
must_check bool process_read(struct watch_head *h);

/* n bytes at most, up to the first that is not there: how many. */
size_t process_bytes(pid_t tid, uint64_t at, void *to, size_t n);
/* A text with its NUL, of at most n bytes: how many. 0: it cannot be read, or
 * is longer. */
size_t process_text(pid_t tid, uint64_t at, char *to, size_t n);
/* Texts, each with its NUL, that a list of pointers leads to; those that find
 * no room are left out. 0: it cannot be read. */
size_t process_list(pid_t tid, uint64_t at, char *to, size_t n);
/* Where a link of /proc leads, "cwd", "root", "fd/3"; empty: nowhere. */
struct str process_link(pid_t tid, const char *name, char *to, size_t n);
/* Has it a connection from that port of its own to that of somebody's? Among
 * the first PROCESS_FDS_MAX that it has open: how long one looks is not the
 * agent's to say. */
#define PROCESS_FDS_MAX 4096u
must_check bool process_has(uint32_t pid, uint16_t own, uint16_t port);
/* A descriptor of its as one of ours; -1: it is not to be had. */
must_check int process_copy(pid_t pid, int fd);
/* A copied socket's kind and its own address; a family of 0: it has none. */
struct watch_sock process_socket(int copy);
/* One that is about to connect and has no port: the kernel chooses it here, as
 * it would a moment later. */
void process_give_port(int copy);

#endif
