/*
 * What the policy says of a name in a folder, and what is answered where it
 * refuses.
 */
#include "runtime/view/aside/aside.h"
#include "runtime/view/who/who.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* --- judging -------------------------------------------------------------- */

/* What cannot be remembered cannot be hidden: then there is no view. */
static void remember_file(struct view *v, const struct statx *x)
{
	struct hidden_file f = view_identity(x);

	if (!hidden_has(&v->hidden, &f) && !hidden_add(&v->hidden, &f))
		abort();
}

/* A link's text as a path from the workspace, into size bytes; false: it is
 * none. */
static bool text_inside(const struct view *v, const struct node *dir,
			const char *text, char *buf, size_t size)
{
	const struct str places[] = {v->target, v->at};
	struct str s = str_of(text);

	for (size_t i = 0; text[0] == '/' && i < ARRAY_LEN(places); i++) {
		if (places[i].n == 0 || !str_starts(s, places[i]) ||
		    (s.n > places[i].n && s.p[places[i].n] != '/'))
			continue;
		s = str_slice(s, places[i].n + 1, s.n);
		return snprintf(buf, size, "%.*s", STR_ARG(s)) < (int)size;
	}
	return text[0] != '/' && node_path(dir, text, buf, size);
}

/* What a hidden link leads to inside the workspace is hidden with it. */
static void remember_end(struct view *v, const struct node *dir,
			 const char *name)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC,
			       .resolve =
				       RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
	char text[VIEW_PATH_MAX], path[2 * VIEW_PATH_MAX];
	ssize_t n = readlinkat(dir->fd, name, text, sizeof(text) - 1);
	struct statx x;
	int fd;

	if (n <= 0)
		return;
	text[n] = '\0';
	if (!text_inside(v, dir, text, path, sizeof(path)))
		return;
	fd = (int)syscall(SYS_openat2, v->nodes.root.fd, path, &how,
			  sizeof(how));
	if (fd < 0)
		return;
	if (view_look(fd, "", &x) == 0 && !view_is_same(&v->nodes.root, &x))
		remember_file(v, &x);
	close(fd);
}

struct judge_word view_judge_new(struct view *v, struct node *dir,
				 const char *name, bool is_dir)
{
	struct judge_word word;

	/* The folder itself is nobody's to change; in it lies .git, and what
	 * that holds is judged as what any .git of the workspace's would. */
	if (view_is_beside(v, dir, name))
		return (struct judge_word){JUDGE_READONLY, JUDGE_BY_ALL, 0};
	if (view_is_beside_node(v, dir))
		return v->part && strcmp(name, ".git") != 0
			       ? (struct judge_word){JUDGE_HIDDEN,
						     JUDGE_BY_OUTSIDE, 0}
			       : judge_root_word(v->judge);
	word = judge_name(v->judge, dir->below, dir->word, str_of(name),
			  is_dir);
	if (dir->made && judge_is_gits(v->judge, word))
		word = (struct judge_word){0};
	return word;
}

/* .git, or below one: there alone are the lines that do not hold. */
static bool is_gits(const struct node *dir, const char *name)
{
	bool found = strcmp(name, ".git") == 0;

	for (; dir->parent && !found; dir = dir->parent)
		found = strcmp(dir->name, ".git") == 0;
	return found;
}

/* What cannot be remembered is as held as any; and a number alone, without a
 * time of birth, may be another folder's tomorrow. */
void view_note_made(struct view *v, const struct node *dir, const char *name)
{
	struct hidden_file f;
	struct statx x;

	if (!is_gits(dir, name) || view_look(dir->fd, name, &x) ||
	    !S_ISDIR(x.stx_mode))
		return;
	f = view_identity(&x);
	if (f.born_s || f.born_ns)
		hidden_add(&v->made, &f);
}

struct judge_word view_judge(struct view *v, struct node *dir, const char *name,
			     const struct statx *x)
{
	struct judge_word word =
		view_judge_new(v, dir, name, S_ISDIR(x->stx_mode));
	struct hidden_file f = view_identity(x);

	if (word.state >= JUDGE_PROTECTED) {
		remember_file(v, x);
		if (S_ISLNK(x->stx_mode))
			remember_end(v, dir, name);
	} else if (hidden_has(&v->hidden, &f)) {
		word = (struct judge_word){v->home ? JUDGE_PROTECTED
						   : JUDGE_HIDDEN,
					   JUDGE_BY_INODE, 0};
	}
	return word;
}

bool view_holds(struct view *v, struct node *dir, const char *name)
{
	struct judge_word word = view_judge_new(v, dir, name, false);

	return word.state == JUDGE_READONLY &&
	       (word.section == JUDGE_BY_HOLD || word.section == JUDGE_BY_GIT ||
		word.section == JUDGE_BY_LINKED);
}

void view_set_known(struct node *n, const struct copy *c)
{
	bool shown = c && ((c->kind == COPY_TRACKED &&
			    (n->type == S_IFREG || n->type == S_IFLNK)) ||
			   c->kind == COPY_HUSK);

	n->aside = copy_is_made(c);
	n->tracked = shown && n->word.state == JUDGE_HIDDEN;
}

void view_set_below(struct view *v, struct node *n)
{
	if (n->type != S_IFDIR || n->word.state == JUDGE_HIDDEN)
		return;
	n->below = view_is_beside_node(v, n)
			   ? judge_root(v->judge)
			   : judge_below(v->judge, n->parent->below,
					 str_of(n->name));
	if (!n->below)
		n->word = (struct judge_word){JUDGE_HIDDEN, JUDGE_BY_ALL, 0};
}

bool view_spells(struct view *v, const struct node *dir, const char *name,
		 struct judge_word *out)
{
	const struct judge_set *below =
		judge_below(v->judge, dir->below, str_of(name));

	return below && judge_spells(v->judge, below, out);
}

/* --- refusing ------------------------------------------------------------- */

int view_refuse(struct view *v, enum record_kind kind, struct judge_word word,
		const struct node *dir, const char *name, int code)
{
	char path[VIEW_PATH_MAX];
	size_t at = v->home ? 2 : 0;

	strcpy(path, v->home ? "~/" : "");
	if (node_path(dir, name, path + at, sizeof(path) - at) == 0)
		strcpy(path, dir->parent || name ? VIEW_HELLO_OTHERS : ".");
	record_refusal(v->record, kind, word, record_place(path));
	return code;
}

int view_guard(struct view *v, enum record_kind kind, struct judge_word *word,
	       const struct node *dir, const char *name)
{
	if (word->state != JUDGE_PROTECTED)
		return 0;
	if (!judge_serves(v->judge, *word) || !who_ask(v->who, serve_asker()))
		return view_refuse(v, kind, *word, dir, name, EACCES);
	*word = (struct judge_word){0};
	return 0;
}

int view_refuse_node(struct view *v, enum record_kind kind,
		     const struct node *n)
{
	return view_refuse(v, kind, n->word, n, NULL, EROFS);
}
