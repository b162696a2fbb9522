/*
 * Numbers that a machine, or its headers, may not have: -1 for what arm64 was
 * never given, and those of newer calls, which are the same everywhere.
 */
#ifndef TESTS_RANDOM_NUMBERS_H
#define TESTS_RANDOM_NUMBERS_H

#include <sys/syscall.h>

#ifndef SYS_open
#define SYS_open -1
#endif
#ifndef SYS_creat
#define SYS_creat -1
#endif
#ifndef SYS_unlink
#define SYS_unlink -1
#endif
#ifndef SYS_rmdir
#define SYS_rmdir -1
#endif
#ifndef SYS_rename
#define SYS_rename -1
#endif
#ifndef SYS_symlink
#define SYS_symlink -1
#endif
#ifndef SYS_link
#define SYS_link -1
#endif
#ifndef SYS_mkdir
#define SYS_mkdir -1
#endif
#ifndef SYS_mknod
#define SYS_mknod -1
#endif
#ifndef SYS_chmod
#define SYS_chmod -1
#endif
#ifndef SYS_chown
#define SYS_chown -1
#endif
#ifndef SYS_lchown
#define SYS_lchown -1
#endif
#ifndef SYS_access
#define SYS_access -1
#endif
#ifndef SYS_iopl
#define SYS_iopl -1
#endif
#ifndef SYS_ioperm
#define SYS_ioperm -1
#endif
#ifndef SYS_kexec_file_load
#define SYS_kexec_file_load -1
#endif
#ifndef SYS_renameat
#define SYS_renameat -1
#endif
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif
#ifndef SYS_open_tree_attr
#define SYS_open_tree_attr 467
#endif

#endif
