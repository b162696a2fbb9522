/*
 * find and cat in one process: `walk FOLDER FILE` reads all that is below
 * FOLDER twice, after once to warm it up, and writes to FILE how many
 * nanoseconds that took. `walk FOLDER` makes what there is to read: FILES files
 * of SIZE bytes in FOLDERS folders.
 */
#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FOLDERS 40
#define FILES	2000
#define SIZE	2000

static char data[65536];

static void make(int at)
{
	char name[64];

	for (int i = 0; i < FILES; i++) {
		int fd;

		snprintf(name, sizeof(name), "%d", i % FOLDERS);
		mkdirat(at, name, 0755);
		snprintf(name, sizeof(name), "%d/%d", i % FOLDERS, i);
		fd = openat(at, name, O_CREAT | O_WRONLY, 0644);
		if (fd < 0 || write(fd, data, SIZE) != SIZE)
			err(1, "%s", name);
		close(fd);
	}
}

static void walk(int at, const char *folder)
{
	int fd = openat(at, folder, O_RDONLY | O_DIRECTORY);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	struct stat st;

	if (!dir)
		err(1, "%s", folder);
	while ((e = readdir(dir))) {
		int file;

		if (*e->d_name == '.' ||
		    fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (S_ISDIR(st.st_mode)) {
			walk(fd, e->d_name);
			continue;
		}
		file = openat(fd, e->d_name, O_RDONLY);
		while (read(file, data, sizeof(data)) > 0)
			;
		close(file);
	}
	closedir(dir);
}

static long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(int argc, char **argv)
{
	long long begun;
	FILE *f;

	if (argc == 2) {
		make(open(argv[1], O_RDONLY | O_DIRECTORY));
		return 0;
	}
	if (argc != 3)
		errx(2, "walk FOLDER [FILE]");
	walk(AT_FDCWD, argv[1]);
	begun = now_ns();
	walk(AT_FDCWD, argv[1]);
	walk(AT_FDCWD, argv[1]);
	begun = now_ns() - begun;
	f = fopen(argv[2], "w");
	if (!f || fprintf(f, "%lld\n", begun) < 0 || fclose(f))
		err(1, "%s", argv[2]);
	return 0;
}
