#include "compiler/cli/program/program.h"

#include "compiler/base/sys/fileio.h"
#include "compiler/cli/program/parts.h"
#include "compiler/cli/text/console.h"
#include "compiler/cli/text/view.h"
#include "compiler/emit/native/native.h"
#include "compiler/ir/docker_mount.h"
#include "compiler/ir/text.h"
#include "compiler/ir/visible.h"
#include "compiler/lint/secret_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENTRIES_MAX 4096u /* of a folder, looked at for secrets by name */

struct search {
	struct arena *a;
	const char *path; /* as in PATH */
	const struct outside_places *places;
	const char *home; /* where "~" leads, links followed; or NULL */
	const struct ir_policy *p;
	struct gitignore *secrets;
	struct program *out;
};

/* --- what a session sees -------------------------------------------------- */

/* "~/…", where it lies in the home. */
static struct str home_text(const struct search *s, const char *path)
{
	const char *const homes[] = {s->places->home, s->home};

	for (size_t i = 0; i < ARRAY_LEN(homes); i++) {
		struct str home = str_of(homes[i] ? homes[i] : "");

		if (home.n > 1 && docker_mount_within(str_of(path), home))
			return arena_fmt(s->a, "~%s", path + home.n);
	}
	return str_of(path);
}

static bool is_mounted(const struct search *s, const char *path)
{
	vec_each(arg, &s->p->docker_args) {
		const struct docker_run_option *o =
			docker_run_named(arg->option);
		struct str target;
		bool empty;

		if (o &&
		    docker_mount_place(s->a, o->id, arg->value, &target,
				       &empty) &&
		    !empty && docker_mount_within(str_of(path), target))
			return true;
	}
	return false;
}

static bool is_seen(const struct search *s, const char *path)
{
	struct str text = home_text(s, path);
	struct ir_visible whole = {.path = str_of(path)},
			  below = {.in_home = true,
				   .path = str_slice(text, 1, text.n)};

	return native_shows(str_of(path)) ||
	       docker_mount_within(str_of(path),
				   str_of(s->places->workspace)) ||
	       visible_at(&s->p->visible, &whole) ||
	       (text.p[0] == '~' && visible_at(&s->p->visible, &below)) ||
	       is_mounted(s, path);
}

/* --- what may be shown ---------------------------------------------------- */

static bool is_secret(const struct search *s, int dir, const char *name)
{
	const struct secret_file *row =
		secret_files_row(s->secrets, str_of(name));
	char text[SECRET_FILES_READ];
	auto_fd int fd = -1;
	ssize_t n;

	if (!row)
		return false;
	fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	n = fd < 0 ? 0 : read(fd, text, sizeof(text));
	return n > 0 && secret_files_holds(row, (struct str){text, (size_t)n});
}

/* In the folder itself; what lies deeper came with the program. */
static bool holds_secrets(const struct search *s, const char *folder)
{
	DIR *dir = opendir(folder);
	bool found = false;
	unsigned n = 0;

	if (!dir)
		return false;
	for (struct dirent *e; !found && (e = readdir(dir));) {
		found = is_secret(s, dirfd(dir), e->d_name);
		if (++n > ENTRIES_MAX)
			break;
	}
	closedir(dir);
	return found || n > ENTRIES_MAX;
}

static const char *folder_fault(const struct search *s, struct str folder)
{
	const char *fault = folders_fault(folder), *path;
	struct ir_visible v = visible_of(visible_text(s->a, folder, false));
	char real[PATH_MAX];

	if (!fault)
		fault = outside_visible_fault(s->a, &v, s->places);
	if (fault)
		return fault;
	path = v.in_home ? arena_fmt(s->a, "%s%.*s", s->places->home,
				     STR_ARG(v.path))
				   .p
			 : arena_cstr(s->a, v.path);
	if (!realpath(path, real))
		return "leads nowhere";
	/* where a link leads is what would be shown */
	fault = folders_fault(home_text(s, real));
	if (!fault && holds_secrets(s, real))
		fault = "holds a secret, by its name and a look at it";
	return fault;
}

/* The widest folder of a path that may be shown. */
static struct program_lack lack_of(const struct search *s, const char *path)
{
	struct program_lack lack = {.path = home_text(s, path)};
	struct str folder;

	for (unsigned n = 0; (folder = folders_of(lack.path, n)).n; n++) {
		const char *fault = folder_fault(s, folder);

		if (!fault) {
			lack.folder = folder;
			return lack;
		}
		lack.why = fault;
	}
	return lack;
}

/* The folders so far, without those that this one holds. */
static void add_folder(struct search *s, struct str folder)
{
	ir_texts kept = {0};

	vec_each(t, &s->out->folders)
		if (!docker_mount_within(t->s, folder))
			*vec_push(s->a, &kept) = *t;
	*vec_push(s->a, &kept) = (struct ir_text){.s = folder};
	s->out->folders = kept;
}

static void add_lack(struct search *s, const char *path)
{
	struct program_lack lack;

	vec_each(t, &s->out->folders)
		if (docker_mount_within(home_text(s, path), t->s))
			return;
	lack = lack_of(s, path);
	*vec_push(s->a, &s->out->lacks) = lack;
	s->out->refused |= lack.folder.n == 0;
	if (lack.folder.n)
		add_folder(s, lack.folder);
}

/* --- programs ------------------------------------------------------------- */

static bool is_whole(const struct search *s, const char *program)
{
	program_paths hops = {0};

	hops_follow(s->a, s->path, program, &hops);
	vec_each(h, &hops)
		if (!is_seen(s, *h))
			return false;
	return true;
}

/* The first of PATH's that is seen with all that it needs. */
static const char *find_shown(const struct search *s, struct str name)
{
	struct str rest = str_of(s->path), dir;

	while (str_field(&rest, ':', &dir)) {
		const char *at =
			program_where(s->a, arena_cstr(s->a, dir), name);

		if (at && is_whole(s, at))
			return at;
	}
	return NULL;
}

static const char *find_program(const struct search *s, const char *name)
{
	if (!strchr(name, '/'))
		return program_where(s->a, s->path, str_of(name));
	if (access(name, X_OK) < 0)
		return NULL;
	return name[0] == '/'
		       ? name
		       : arena_fmt(s->a, "%s/%s", s->places->workspace, name).p;
}

void program_find(struct arena *a, const char *path,
		  const struct outside_places *places,
		  const struct ir_policy *p, const char *name,
		  struct program *out)
{
	struct search s = {.a = a,
			   .path = path ? path : "",
			   .places = places,
			   .p = p,
			   .secrets = secret_files_new(a),
			   .out = out};
	program_paths hops = {0};
	char real[PATH_MAX];

	*out = (struct program){0};
	if (places->home && realpath(places->home, real))
		s.home = arena_cstr(a, str_of(real));
	out->at = find_program(&s, name);
	if (!out->at)
		return;
	hops_follow(a, s.path, out->at, &hops);
	vec_each(h, &hops)
		if (!is_seen(&s, *h))
			add_lack(&s, *h);
	if (out->lacks.n)
		out->shown = find_shown(&s, str_of(name));
}

void program_say_refused(struct arena *a, const char *name,
			 const struct program *p)
{
	vec_each(l, &p->lacks)
		if (!l->folder.n)
			console_error(
				"%s is found by %s, which no session is shown: it %s; install it where programs are, as in ~/.local/bin",
				view_cleaned(a, str_of(name)).p,
				view_cleaned(a, l->path).p, l->why);
}
