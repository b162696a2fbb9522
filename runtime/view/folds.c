/*
 * Does the disk take names that differ in the case of letters for the same?
 * FAT, and what a Mac or Windows shares with its virtual machine, do.
 */
#include "runtime/view/view.h"

#include "compiler/base/err.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

/* Entries that are asked for at most: one of them will have a letter. */
#define ENTRIES_MAX 64

/* False: there is no letter in it. */
static bool spell_otherwise(const char *name, char *out, size_t size)
{
	bool other = false;
	size_t i = 0;

	for (; name[i] && i < size - 1; i++) {
		unsigned char c = (unsigned char)name[i];

		out[i] = name[i];
		if (c >= 128 || !isalpha(c))
			continue;
		out[i] = (char)(c ^ ('a' ^ 'A'));
		other = true;
	}
	out[i] = '\0';
	return other;
}

/* 1: it does; 0: it does not; -1: this entry does not tell. */
static int ask_entry(int dir, const char *name)
{
	char other[NAME_MAX + 1];
	struct stat a, b;

	if (!spell_otherwise(name, other, sizeof(other)) ||
	    fstatat(dir, name, &a, AT_SYMLINK_NOFOLLOW) < 0)
		return -1;
	if (fstatat(dir, other, &b, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	/* Two names of one file would look the same. */
	if (!S_ISDIR(a.st_mode) && a.st_nlink > 1)
		return -1;
	return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static bool may_fold(int dir)
{
	struct statfs fs;

	if (fstatfs(dir, &fs) < 0)
		return true;
	switch ((unsigned)fs.f_type) {
	case MSDOS_SUPER_MAGIC:
	case EXFAT_SUPER_MAGIC:
	case SMB_SUPER_MAGIC:
	case CIFS_SUPER_MAGIC:
	case SMB2_SUPER_MAGIC:
	case V9FS_MAGIC:
	case FUSE_SUPER_MAGIC: /* virtiofs has the same */
		return true;
	default:
		return false;
	}
}

bool folds_case(int dir)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *ent;
	int said = -1;

	for (int i = 0; d && said < 0 && i < ENTRIES_MAX; i++) {
		ent = readdir(d);
		if (!ent)
			break;
		said = ask_entry(dir, ent->d_name);
	}
	if (d)
		closedir(d);
	else
		fd_close(&fd);
	return said < 0 ? may_fold(dir) : said == 1;
}
