/*
 * seccomp.json as the native engine loads it: what is no such file is refused,
 * and what the kernel does with the rest is asked of the kernel.
 */
#include "runtime/launch/native/parts.h"

#include "compiler/base/sys/fileio.h"
#include "tests/check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define HEAD                                                                   \
	"{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"defaultErrnoRet\":1,\"syscalls\":["

static char file[] = "/tmp/membrane-filter-XXXXXX";
static struct arena *a;
static struct err err;

static int read_text(const char *text, struct filter *out)
{
	CHECK(fileio_write(AT_FDCWD, file, str_of(text), 0600, &err) == 0);
	return filter_read(a, file, out, &err);
}

/* In a child: what the calls answer once the filter is loaded. */
static int answer_below(const struct filter *f)
{
	struct err ignored;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    filter_load(f, &ignored) < 0)
		return 1;
	if (syscall(SYS_getuid) < 0 || syscall(SYS_getgid) != -1 ||
	    errno != EPERM)
		return 2;
	if (syscall(SYS_personality, 0L) < 0 ||
	    syscall(SYS_personality, 8L) != -1 || errno != EPERM)
		return 3;
	if (syscall(SYS_clone3, NULL, 0) != -1 || errno != ENOSYS)
		return 4;
	if (syscall(100000) != -1 || errno != ENOSYS)
		return 5;
	return 0;
}

static void test_kernel(void)
{
	struct filter f = {0};
	int status = 0;
	pid_t pid;

	CHECK(read_text(
		      HEAD
		      "{\"action\":\"SCMP_ACT_ALLOW\",\"names\":[\"getuid\","
		      "\"exit\",\"exit_group\",\"write\",\"prctl\","
		      "\"mmap\",\"munmap\",\"sigaltstack\",\"no_such_call\"]},"
		      "{\"action\":\"SCMP_ACT_ALLOW\",\"includes\":"
		      "{\"minKernel\":\"4.8\"},\"names\":[\"ptrace\"]},"
		      "{\"action\":\"SCMP_ACT_ALLOW\",\"names\":"
		      "[\"personality\"],\"args\":[{\"index\":0,\"value\":0,"
		      "\"op\":\"SCMP_CMP_EQ\"}]},"
		      "{\"action\":\"SCMP_ACT_ERRNO\",\"errnoRet\":38,"
		      "\"names\":[\"clone3\"]}]}",
		      &f) == 0);
	CHECK(f.n > 6);
	pid = fork();
	if (pid == 0)
		_exit(answer_below(&f));
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK_MSG(status == 0, "status %x", (unsigned)status);
	/* none is no filter */
	CHECK(filter_load(&(struct filter){0}, &err) == 0);
}

static void test_refused(void)
{
	static const char *const texts[] = {
		"",
		"[]",
		"{}",
		"{\"defaultAction\":\"SCMP_ACT_ALLOW\",\"syscalls\":[]}",
		"{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"syscalls\":[]}",
		"{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"defaultErrnoRet\":1}",
		HEAD "{\"action\":\"SCMP_ACT_TRACE\",\"names\":[\"read\"]}]}",
		HEAD
		"{\"action\":\"SCMP_ACT_ALLOW\",\"includes\":{\"caps\":[\"CAP_BPF\"]},\"names\":[\"bpf\"]}]}",
		HEAD
		"{\"action\":\"SCMP_ACT_ALLOW\",\"excludes\":{},\"names\":[\"bpf\"]}]}",
		HEAD
		"{\"action\":\"SCMP_ACT_ALLOW\",\"names\":[\"read\"],\"args\":[{\"index\":9,\"op\":\"SCMP_CMP_EQ\"}]}]}",
		HEAD
		"{\"action\":\"SCMP_ACT_ALLOW\",\"names\":[\"read\"],\"args\":[{\"index\":0,\"op\":\"LIKE\"}]}]}",
	};
	struct filter f;

	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		CHECK_MSG(read_text(texts[i], &f) == -EPROTO, "%s", texts[i]);
	CHECK(filter_read(a, "/nowhere", &f, &err) == -ENOENT);
}

int main(void)
{
	int fd = mkstemp(file);

	CHECK(fd >= 0);
	close(fd);
	a = arena_new();
	test_kernel();
	test_refused();
	CHECK(unlink(file) == 0);
	arena_free(a);
	return check_status();
}
