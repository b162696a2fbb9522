#include "runtime/launch/workspace/executed.h"

#include "compiler/base/gitignore.h"
#include "compiler/base/err.h"
#include "compiler/base/sys/clock.h"
#include "runtime/launch/workspace/wspath.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>

#define CLOCK_EVERY 64u /* entries between two looks at the clock */
#define NAMED_MAX   10u /* files in the last words */

static const struct row {
	const char *tool, *patterns;
} rows[] = {
#define EXECUTED(rule, tool, patterns, why) {tool, patterns},
#include "grammar/executed.def"
#undef EXECUTED
};

struct folder {
	struct str path;
	const char *tool; /* of all that is in it; or NULL */
	unsigned depth;
};

struct look {
	struct arena *a;
	int root;
	struct gitignore *patterns;
	VEC(const char *) tools; /* by the index of a pattern */
	VEC(struct folder) queue;
	uint32_t entries;
	int64_t until;
	struct executed *out;
};

static void add_patterns(struct look *l)
{
	l->patterns = gitignore_new(l->a);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct str list = str_of(rows[i].patterns), one;

		while (str_field(&list, '|', &one))
			if (gitignore_add(l->patterns, one, NULL) ==
			    GITIGNORE_OK)
				*vec_push(l->a, &l->tools) = rows[i].tool;
	}
}

static bool is_over(struct look *l)
{
	if (l->entries >= EXECUTED_ENTRIES ||
	    l->out->files.n >= EXECUTED_FOUND ||
	    (l->entries % CLOCK_EVERY == 0 && clock_ms() > l->until))
		l->out->whole = false;
	return !l->out->whole;
}

static void add_file(struct look *l, struct str path, const char *tool,
		     const struct stat *st)
{
	*vec_push(l->a, &l->out->files) = (struct executed_file){
		.path = arena_str(l->a, path), .tool = tool, .st = *st};
}

static void add_folder(struct look *l, const struct folder *in, struct str path,
		       const char *tool)
{
	if (in->depth >= EXECUTED_DEPTH)
		l->out->whole = false;
	else
		*vec_push(l->a, &l->queue) =
			(struct folder){path, tool, in->depth + 1};
}

/* What git's own folder holds is its repository's: that counts as a whole. */
static bool is_in_git(struct str path)
{
	return str_starts(path, STR(".git/")) ||
	       memmem(path.p, path.n, "/.git/", 6);
}

/* But for these: what a rebase is to do next, and what a worktree or a
 * submodule is configured by, which an agent can make in a repository that was
 * there. */
static bool counts_in_git(struct str path, const char *name)
{
	static const struct str parts[] = {STR_INIT(".git/modules/"),
					   STR_INIT(".git/worktrees/")};

	if (strcmp(name, "git-rebase-todo") == 0)
		return true;
	if (strcmp(name, "config") != 0 && strcmp(name, "commondir") != 0)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (memmem(path.p, path.n, parts[i].p, parts[i].n))
			return true;
	return false;
}

/* Many entries, and nothing in them that runs by itself. */
static bool is_dull(struct str path, const char *name)
{
	if (!is_in_git(path))
		return strcmp(name, "node_modules") == 0;
	return strcmp(name, "objects") == 0 || strcmp(name, "refs") == 0 ||
	       strcmp(name, "logs") == 0 || strcmp(name, "lfs") == 0;
}

static const char *tool_of(struct look *l, struct str path, bool is_dir)
{
	uint32_t at;

	if (gitignore_match(l->patterns, path, is_dir, &at) != GITIGNORE_MATCH)
		return NULL;
	return l->tools.v[at];
}

static void look_at(struct look *l, const struct folder *in, int dir,
		    const char *name)
{
	struct str path = wspath_join(l->a, in->path, str_of(name));
	bool git = strcmp(name, ".git") == 0, is_dir;
	const char *tool = in->tool;
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	is_dir = S_ISDIR(st.st_mode);
	if (git && !in->tool)
		add_file(l, path, "git", &st);
	else if (!tool && (!is_in_git(path) || counts_in_git(path, name)))
		tool = tool_of(l, path, is_dir);
	if (is_dir && !is_dull(path, name))
		add_folder(l, in, path, tool);
	/* what is empty runs nothing: a placeholder, most likely */
	else if (!git && tool && !is_dir &&
		 (!S_ISREG(st.st_mode) || st.st_size > 0))
		add_file(l, path, tool, &st);
}

static void look_into(struct look *l, const struct folder *in)
{
	int fd = openat(l->root, in->path.n ? arena_cstr(l->a, in->path) : ".",
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC |
				O_NONBLOCK);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;

	if (!dir) {
		fd_close(&fd);
		return;
	}
	while (!is_over(l) && (e = readdir(dir))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		l->entries++;
		look_at(l, in, dirfd(dir), e->d_name);
	}
	closedir(dir);
}

static int by_path(const void *va, const void *vb)
{
	const struct executed_file *a = va, *b = vb;

	return str_cmp(a->path, b->path);
}

void executed_look(struct arena *a, const char *workspace, struct executed *out)
{
	struct look l = {
		.a = a, .out = out, .until = clock_ms() + EXECUTED_TIME_MS};
	auto_fd int root = open(workspace, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	*out = (struct executed){.at = time(NULL), .whole = root >= 0};
	if (root < 0)
		return;
	l.root = root;
	add_patterns(&l);
	*vec_push(a, &l.queue) = (struct folder){.depth = 0};
	for (uint32_t i = 0; i < l.queue.n && !is_over(&l); i++) {
		struct folder in = l.queue.v[i]; /* the queue may move */

		look_into(&l, &in);
	}
	vec_sort(&out->files, by_path);
}

/* A folder changes with each name in it; it is the same while it is there. */
static bool is_same(const struct stat *a, const struct stat *b)
{
	if (a->st_ino != b->st_ino || a->st_dev != b->st_dev ||
	    (a->st_mode & S_IFMT) != (b->st_mode & S_IFMT))
		return false;
	return S_ISDIR(a->st_mode) ||
	       (a->st_size == b->st_size &&
		a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
		a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
		a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
		a->st_ctim.tv_nsec == b->st_ctim.tv_nsec);
}

void executed_changed(struct arena *a, const struct executed *before,
		      const struct executed *now, struct executed *out)
{
	*out = (struct executed){.at = now->at,
				 .whole = before->whole && now->whole};
	vec_each(f, &now->files) {
		const struct executed_file *was =
			bsearch(f, before->files.v, before->files.n, sizeof(*f),
				by_path);

		if (was ? is_same(&was->st, &f->st)
			: !before->whole && f->st.st_ctime < before->at)
			continue;
		*vec_push(a, &out->files) = *f;
	}
}

void executed_words(const struct executed *changed, struct buf *out)
{
	uint32_t n = changed->files.n;

	if (n == 0)
		return;
	buf_adds(
		out,
		"membrane: changed in this session, and run by tools on your machine:");
	for (uint32_t i = 0; i < n && i < NAMED_MAX; i++) {
		const struct executed_file *f = &changed->files.v[i];

		buf_addf(out, "%s %s (%s)", i ? "," : "",
			 wspath_show(out->a, f->path), f->tool);
	}
	if (n > NAMED_MAX)
		buf_addf(out, " and %u more", n - NAMED_MAX);
	buf_adds(
		out,
		changed->whole
			? "\n"
			: "; the workspace is large, and not all of it was looked at\n");
}

cJSON *executed_json(struct arena *a, const struct executed *changed)
{
	cJSON *list = cJSON_CreateArray();

	vec_each(f, &changed->files) {
		cJSON *o = cJSON_CreateObject();

		cJSON_AddStringToObject(o, "path", wspath_show(a, f->path));
		cJSON_AddStringToObject(o, "tool", f->tool);
		cJSON_AddItemToArray(list, o);
	}
	return list;
}
