/*
 * Parts of a test in processes of their own, in which the kernel refuses what
 * the test wants refused.
 */
#ifndef TESTS_UNIT_GATE_REFUSED_H
#define TESTS_UNIT_GATE_REFUSED_H

#include "tests/check.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* From here on that call of this process fails, where that argument has that
 * value; -1: whatever it has. */
static inline bool refuse_call(int call, unsigned argument, int value, int code)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 (uint32_t)(offsetof(struct seccomp_data, args) +
				    argument * sizeof(uint64_t))),
		BPF_JUMP(BPF_JMP | (value < 0 ? BPF_JGE : BPF_JEQ) | BPF_K,
			 value < 0 ? 0 : (uint32_t)value, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)code),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {ARRAY_LEN(filter), filter};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* A part of this test in a process of its own, which has its own failures. */
static inline void apart(void (*part)(void))
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		check_failed = 0;
		part();
		_exit(check_failed > 0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

#endif
