/*
 * Switches of the kernel, /proc/sys (proc(5)), of the network namespace that
 * the process is in.
 */
#ifndef COMPILER_BASE_SYS_SYSCTL_H
#define COMPILER_BASE_SYS_SYSCTL_H

#include <stdbool.h>

/*
 * Let the switch at path, below /proc/sys ("net/ipv4/ip_forward"), have that
 * value. True when it has it by then. Where /proc/sys is read-only, as
 * container runtimes leave it, the kernel is asked for a procfs that is
 * attached nowhere (fsopen(2)): that takes CAP_SYS_ADMIN, and in a user
 * namespace of its own a /proc that hides nothing.
 */
bool sysctl_put(const char *path, const char *value);

#endif
