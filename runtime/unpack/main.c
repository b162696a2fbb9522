/*
 * membrane-unpack FILE SHA256 DIR: the root of an archive's image in DIR/root;
 * its environment in DIR/env, and what it runs in DIR/entrypoint and
 * DIR/command, each a list of words with a NUL behind each. DIR is made. Why it
 * failed is one line on stderr; then what is in DIR is nothing, and for the
 * caller to remove.
 *
 * A program of its own, since what it reads may be anybody's: it has the file
 * and the folder, and nothing else of the machine.
 */
#include "compiler/base/buf.h"
#include "compiler/base/sha256.h"
#include "compiler/base/sys/fileio.h"
#include "compiler/base/sys/landlock.h"
#include "runtime/unpack/parts.h"

#include <archive.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct unpacking {
	struct arena *a;
	int fd, dir; /* the archive, and the folder */
	struct layout layout;
	struct err *err;
};

/* --- the file ------------------------------------------------------------------ */

/* A file that is cut while it is read ends us. */
static int hash_file(int fd, size_t n, char out[SHA256_HEX_MAX])
{
	void *p = n ? mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;

	if (p == MAP_FAILED)
		return -errno;
	sha256_hex((struct str){p, n}, out);
	return p && munmap(p, n) < 0 ? -errno : 0;
}

static int open_file(const char *file, const char *sha256, int *out,
		     struct err *err)
{
	char is[SHA256_HEX_MAX];
	struct stat st;

	*out = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (*out < 0 || fstat(*out, &st) < 0)
		return err_errno(err, "it");
	if (!S_ISREG(st.st_mode))
		return err_set(err, -EPROTO, "it is no file");
	if (hash_file(*out, (size_t)st.st_size, is) < 0)
		return err_errno(err, "it");
	return strcmp(is, sha256) == 0
		       ? 0
		       : err_set(err, -EBADMSG, "its SHA-256 is %s, not %s", is,
				 sha256);
}

/* --- unpacking --------------------------------------------------------------- */

static int add_layer(const struct unpacking *u, const struct tree *t,
		     const char *name, struct layer_bounds *left)
{
	int rc = 0;

	for (int look = LAYER_REMOVES; rc == 0 && look <= LAYER_ADDS; look++) {
		struct archive *outer;

		rc = layout_seek(u->fd, name, &outer, u->err);
		if (rc < 0)
			return rc;
		rc = layer_read(outer, (enum layer_look)look, t, left, u->err);
		archive_read_free(outer);
	}
	return rc;
}

static int write_words(const struct unpacking *u, const char *name,
		       const layout_words *words)
{
	struct buf out;

	buf_init(&out, u->a);
	vec_each(w, words) {
		buf_adds(&out, *w);
		buf_addc(&out, '\0');
	}
	return fileio_write(u->dir, name, buf_str(&out), 0600, u->err);
}

static int write_config(const struct unpacking *u)
{
	int rc = write_words(u, "env", &u->layout.env);

	if (rc == 0)
		rc = write_words(u, "entrypoint", &u->layout.entrypoint);
	return rc == 0 ? write_words(u, "command", &u->layout.command) : rc;
}

static int unpack(struct unpacking *u)
{
	struct layer_bounds left = {UNPACK_BYTES_MAX, UNPACK_ENTRIES_MAX};
	struct tree t = {-1, geteuid() == 0};
	int rc = layout_read(u->a, u->fd, &u->layout, u->err);

	if (rc < 0)
		return rc;
	if (mkdirat(u->dir, "root", 0755) < 0 ||
	    (t.root = openat(u->dir, "root",
			     O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		return err_errno(u->err, "its root");
	vec_each(name, &u->layout.layers)
		if (rc == 0)
			rc = add_layer(u, &t, *name, &left);
	fd_close(&t.root);
	return rc == 0 ? write_config(u) : rc;
}

/* --- alone with it -------------------------------------------------------------- */

/* Calls that unpacking has no use for, and a file that takes it over has. */
static const int refused[] = {
	SCMP_SYS(execve),	 SCMP_SYS(execveat),  SCMP_SYS(socket),
	SCMP_SYS(fork),		 SCMP_SYS(vfork),     SCMP_SYS(clone),
	SCMP_SYS(clone3),	 SCMP_SYS(ptrace),    SCMP_SYS(kill),
	SCMP_SYS(process_vm_writev), SCMP_SYS(io_uring_setup), SCMP_SYS(bpf),
	SCMP_SYS(unshare),	 SCMP_SYS(mount),     SCMP_SYS(setns),
};

static int refuse_calls(struct err *err)
{
	scmp_filter_ctx f = seccomp_init(SCMP_ACT_ALLOW);
	int rc = f ? 0 : -ENOMEM;

	for (size_t i = 0; rc == 0 && i < ARRAY_LEN(refused); i++)
		rc = seccomp_rule_add(f, SCMP_ACT_KILL_PROCESS, refused[i], 0);
	if (rc == 0)
		rc = seccomp_load(f);
	if (f)
		seccomp_release(f);
	return rc < 0 ? err_set(err, rc, "a filter of system calls: %s",
				strerror(-rc))
		      : 0;
}

static int confine(int dir, struct err *err)
{
	int rc = landlock_confine(dir);

	return rc ? err_set(err, -rc, "landlock: %s", strerror(rc))
		  : refuse_calls(err);
}

static int run(struct unpacking *u, char **words)
{
	int rc = open_file(words[0], words[1], &u->fd, u->err);

	if (rc < 0)
		return rc;
	/* names in an archive are bytes; libarchive takes them for text */
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		return err_set(u->err, -ENOENT, "there is no locale C.UTF-8");
	umask(0);
	if (mkdir(words[2], 0700) < 0 ||
	    (u->dir = open(words[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		return err_errno(u->err, words[2]);
	rc = confine(u->dir, u->err);
	if (rc == 0)
		rc = unpack(u);
	return rc;
}

int main(int argc, char **argv)
{
	struct err err = {0};
	struct unpacking u = {.fd = -1, .dir = -1, .err = &err};
	int rc;

	if (argc != 4) {
		fputs("usage: membrane-unpack FILE SHA256 DIR\n", stderr);
		return 2;
	}
	u.a = arena_new();
	rc = run(&u, argv + 1);
	if (rc < 0)
		fprintf(stderr, "%s: %s\n", argv[1], err.text);
	fd_close(&u.fd);
	fd_close(&u.dir);
	arena_free(u.a);
	return rc < 0 ? 1 : 0;
}
