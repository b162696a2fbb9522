/*
 * How long the scan of a big workspace takes, warm: 100,000 files in 5,000
 * directories, 20 patterns; beside a walk that only lists the names, in the
 * same run. Best of five each, since the machine has other things to do.
 *
 *	bench/scan [FILES [DIRECTORIES]]
 */
#include "runtime/launch/workspace/scan.h"

#include "compiler/base/buf.h"
#include "compiler/base/sys/fileio.h"
#include "tests/bench/clock.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROUNDS 5

static const char rules[] =
	"membrane-mounts 1\nworkspace /workspace\n"
	"ignore .env\nignore .env.*\nignore !.env.example\nignore *.pem\n"
	"ignore *.key\nignore *.p12\nignore id_rsa*\nignore .netrc\n"
	"ignore /secrets/\nignore **/credentials.json\nignore .aws/\n"
	"ignore *.tfstate\nignore config/**/prod.yaml\nignore *[Ss]ecret*.txt\n"
	"ignore .ssh/\nreadonly .membrane.yaml\nreadonly .git/hooks/\n"
	"readonly .git/config\nreadonly .git/modules/*/hooks/\n"
	"readonly .vscode/\n";

/* What `find` does at least: every directory opened, every name read. */
static unsigned list(int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	unsigned n = 0;

	while (dir && (e = readdir(dir))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		n++;
		if (e->d_type == DT_DIR)
			n += list(fd, e->d_name);
	}
	if (dir)
		closedir(dir);
	return n;
}

static void make_tree(unsigned files, unsigned dirs)
{
	struct err err;
	char path[128];

	for (unsigned i = 0; i < files; i++) {
		unsigned d = i % dirs;
		int n = snprintf(path, sizeof(path), "src%u/pkg%u/mod%u",
				 d % 20, d / 20 % 20, d);
		int fd;

		if (i < dirs && fileio_mkdirs(path, 0755, &err) < 0)
			exit(1);
		snprintf(path + n, sizeof(path) - (size_t)n, "/%s%u.%s",
			 i % 997 ? "component" : "id_rsa", i,
			 i % 1009 ? "test.ts" : "pem");
		fd = open(path, O_CREAT | O_WRONLY, 0644);
		if (fd < 0)
			exit(1);
		close(fd);
	}
}

static double scan_once(int root, const char *path, unsigned *out_masks,
			uint64_t *out_entries)
{
	struct arena *a = arena_new();
	struct mountsplan plan;
	struct scan found = {0};
	struct err err;
	double from = now_ms();

	if (mountsplan_read(a, str_of(rules), &plan, &err) < 0 ||
	    scan_workspace(a, root, str_of(path), &plan, &found, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	from = now_ms() - from;
	*out_masks = found.masks.n;
	*out_entries = found.entries;
	arena_free(a);
	return from;
}

int main(int argc, char **argv)
{
	unsigned files = argc > 1 ? (unsigned)atoi(argv[1]) : 100000;
	unsigned dirs = argc > 2 ? (unsigned)atoi(argv[2]) : 5000;
	double best_scan = 1e9, best_list = 1e9;
	char top[] = "/tmp/membrane-bench.XXXXXX";
	unsigned listed = 0, masks = 0;
	uint64_t entries = 0;
	struct err err;
	int root;

	if (!mkdtemp(top) || chdir(top) < 0)
		return 1;
	make_tree(files, dirs);
	root = open(".", O_RDONLY | O_DIRECTORY);
	for (unsigned i = 0; i < ROUNDS; i++) {
		double from = now_ms(), ms;

		listed = list(root, ".");
		ms = now_ms() - from;
		if (ms < best_list)
			best_list = ms;
		ms = scan_once(root, top, &masks, &entries);
		if (ms < best_scan)
			best_scan = ms;
	}
	printf("scan: %llu entries, %u masks: %.1f ms; listing alone: %u "
	       "entries, %.1f ms; ratio %.2f\n",
	       (unsigned long long)entries, masks, best_scan, listed, best_list,
	       best_scan / best_list);
	if (chdir("/") < 0 || fileio_remove_tree(AT_FDCWD, top, &err) < 0)
		return 1;
	return 0;
}
