/*
 * A process that gives up the machine's files: landlock(7).
 */
#ifndef COMPILER_BASE_SYS_LANDLOCK_H
#define COMPILER_BASE_SYS_LANDLOCK_H

/*
 * From here on this process, and what it forks, opens no file but in and below
 * the open folder beneath (-1: none at all), binds no TCP port (ABI 4) and
 * reaches no abstract UNIX socket or process of others (ABI 6): as far as the
 * kernel has it, nothing where it has none. What is open stays. Sets
 * no_new_privs. 0, or an errno.
 */
int landlock_confine(int beneath);

#endif
