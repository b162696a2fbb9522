/*
 * Counters of a process that ends without exit(3), for the builds of
 * tests/check/coverage. A worker of an oracle leaves by _exit(2), a child of
 * the launcher becomes another program: both write what they counted before.
 */
#include <unistd.h>

int __llvm_profile_write_file(void);

void __real__exit(int status) __attribute__((noreturn));
int __real_execve(const char *path, char *const argv[], char *const env[]);
int __real_execvp(const char *file, char *const argv[]);

void __wrap__exit(int status) __attribute__((noreturn));
int __wrap_execve(const char *path, char *const argv[], char *const env[]);
int __wrap_execvp(const char *file, char *const argv[]);

void __wrap__exit(int status)
{
	__llvm_profile_write_file();
	__real__exit(status);
}

int __wrap_execve(const char *path, char *const argv[], char *const env[])
{
	__llvm_profile_write_file();
	return __real_execve(path, argv, env);
}

int __wrap_execvp(const char *file, char *const argv[])
{
	__llvm_profile_write_file();
	return __real_execvp(file, argv);
}
