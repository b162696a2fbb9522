/*
 * Does the disk take names that differ in the case of letters for the same?
 * FAT, and what a Mac or Windows shares with its virtual machine, do.
 */
#include "runtime/view/view.h"

#include "compiler/base/err.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
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

static DIR *open_folder(int dir)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d)
		fd_close(&fd);
	return d;
}

static bool is_listed(int dir, const char *name)
{
	DIR *d = open_folder(dir);
	const struct dirent *ent;
	bool listed = false;

	while (d && !listed && (ent = readdir(d)))
		listed = strcmp(ent->d_name, name) == 0;
	if (d)
		closedir(d);
	return listed;
}

/*
 * 1: it does; 0: it does not; -1: this entry does not tell. What can be found
 * and is not listed is another spelling. Numbers of files say nothing of that:
 * where a program is the file system, each spelling may have one of its own.
 */
static int ask_entry(int dir, const char *name)
{
	char other[NAME_MAX + 1];
	struct stat st;

	if (!spell_otherwise(name, other, sizeof(other)))
		return -1;
	if (fstatat(dir, other, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -1;
	return !is_listed(dir, other);
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
	DIR *d = open_folder(dir);
	const struct dirent *ent;
	int said = -1;

	for (int i = 0; d && said < 0 && i < ENTRIES_MAX; i++) {
		ent = readdir(d);
		if (!ent)
			break;
		said = ask_entry(dir, ent->d_name);
	}
	if (d)
		closedir(d);
	return said < 0 ? may_fold(dir) : said == 1;
}
