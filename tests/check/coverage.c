/*
 * Where a program of the builds for tests/check/coverage counts: each has a
 * file of its own, whose name the Makefile makes. What clang would tell them
 * apart by (%m) is the same for programs that are alike enough.
 */
extern const char __llvm_profile_filename[];
const char __llvm_profile_filename[] = COUNTS_FILE;
