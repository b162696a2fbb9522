/*
 * Which files were changed, and which of those that are touched likely hold
 * secrets: what the trace saw, and what the view refused.
 */
#include "compiler/cli/report/parts.h"

#include "compiler/base/json.h"

#include <fcntl.h>

void files_init(struct files *f, struct arena *a, const struct activity *d)
{
	*f = (struct files){
		.a = a, .secrets = secret_files_new(a), .places = d};
	f->paths.a = f->programs.a = a;
}

static struct file *file_at(struct files *f, struct str path, bool in_workspace)
{
	const struct secret_file *row;
	uint32_t i = texts_index(&f->paths, path, true);

	if (!i)
		return NULL;
	if (i > f->v.n) {
		row = secret_files_row(
			f->secrets,
			str_slice(path, str_starts(path, STR("/")), path.n));
		*vec_push(f->a, &f->v) =
			(struct file){.path = f->paths.v.v[i - 1],
				      .in_workspace = in_workspace,
				      .secret = row ? row->what : NULL};
	}
	return &f->v.v[i - 1];
}

/* By its name in the workspace, where it is of that. */
static struct file *traced_file(struct files *f, struct str path)
{
	struct str own = activity_path(f->places, path);

	if (path.n == 0)
		return NULL;
	return file_at(f, own.n ? own : path, own.n > 0);
}

/* Is it one whose name alone says that it may be worth a line? */
static bool is_secret(const struct files *f, struct str path)
{
	return secret_files_row(f->secrets,
				str_slice(path, str_starts(path, STR("/")),
					  path.n)) != NULL;
}

static void note_change(struct files *f, struct str path, bool removed,
			struct str program)
{
	struct file *x = traced_file(f, path);

	if (!x)
		return;
	x->writes++;
	x->removed = removed;
	texts_keep(&f->programs, program, &x->program);
}

static const struct {
	const char *event, *to; /* to: the argument of a second path */
	bool removes, folder;
} changes[] = {
	{"security_inode_unlink", NULL, true, false},
	{"unlink", NULL, true, false},
	{"unlinkat", NULL, true, false},
	{"rmdir", NULL, true, true},
	{"security_inode_rename", "new_path", true, false},
	{"rename", "newpath", true, false},
	{"renameat", "newpath", true, false},
	{"renameat2", "newpath", true, false},
	{"mkdir", NULL, false, true},
	{"mkdirat", NULL, false, true},
	{"link", "newpath", false, false},
	{"linkat", "newpath", false, false},
};

/* Of what changes a file otherwise than by its being opened. */
static bool take_change(struct files *f, const struct trace_event *e)
{
	for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
		if (!str_is(e->name, changes[i].event))
			continue;
		if (!changes[i].folder && !str_starts(e->name, STR("link")))
			note_change(f, trace_object(e).path, changes[i].removes,
				    e->comm);
		if (changes[i].to)
			note_change(f, trace_arg(e, changes[i].to), false,
				    e->comm);
		return true;
	}
	return false;
}

static bool only_reads(const struct trace_event *e)
{
	int64_t flags = trace_number(e, "flags", 0);

	return (str_is(e->name, "security_file_open") ||
		str_starts(e->name, STR("open"))) &&
	       (flags & O_ACCMODE) == O_RDONLY &&
	       !(flags & (O_CREAT | O_TRUNC));
}

void files_event(struct files *f, const struct trace_event *e)
{
	struct str path = trace_object(e).path;
	struct file *x;

	if (trace_kind(e) != TRACE_FILE)
		return;
	if (is_secret(f, path) && (x = traced_file(f, path))) {
		x->touches += e->ret >= 0;
		x->refused += e->ret < 0;
		if (x->program.n == 0)
			texts_keep(&f->programs, e->comm, &x->program);
	}
	if (e->ret < 0 || take_change(f, e) || only_reads(e))
		return;
	note_change(f, path, false, e->comm);
}

void files_decision(struct files *f, const cJSON *o)
{
	struct str kind = json_find_str(o, "kind"),
		   path = json_find_str(o, "path");
	uint64_t n = json_find_u64(o, "count", UINT32_MAX);
	struct file *x;

	if ((!str_is(kind, "read") && !str_is(kind, "write")) ||
	    !is_secret(f, path))
		return;
	x = file_at(f, path, !str_starts(path, STR("~/")));
	if (x)
		x->refused += n ? n : 1;
}
