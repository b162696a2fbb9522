#include "compiler/lint/lint.h"

#include "compiler/lint/parts.h"
#include "compiler/ir/docker_mount.h"
#include "compiler/ir/visible.h"

const char *lint_quoted(struct pass_ctx *c, const struct ir_dest *d)
{
	return diag_quote(c->diags, ir_dest_text(c->a, d));
}

void lint_about(struct pass_ctx *c, const struct ir_dest *d)
{
	diag_about(c->diags, ir_dest_text(c->a, d));
}

/* --- places that others read -----------------------------------------------
 */

static const char *and_more(struct pass_ctx *c, uint32_t n)
{
	return n ? arena_fmt(c->a, ", and %u more such place%s", n,
			     n == 1 ? "" : "s")
			       .p
		 : "";
}

/* Hits of one grant, of one sort: the first speaks for all. */
static void warn_reached(struct pass_ctx *c, const struct third_party_hit *hit,
			 uint32_t n)
{
	const struct third_party *row = hit->place;

	if (row->shared) {
		struct str all = ir_dest_name(&hit->grant->dest);
		bool same = str_eq(all, hit->name);

		diag_warn(c->diags, DIAG_SHARED_HOSTING, hit->grant->from.at,
			  "'%s' is about names that anybody gets: %s%s%s%s",
			  lint_quoted(c, &hit->grant->dest),
			  same ? "" : hit->name.p, same ? "" : ", ", row->what,
			  and_more(c, n - 1));
		diag_help(c->diags, "name those that are meant");
	} else {
		diag_warn(c->diags, DIAG_THIRD_PARTY, hit->grant->from.at,
			  "'%s' can carry data to others: %s (%s)%s",
			  lint_quoted(c, &hit->grant->dest), row->what,
			  third_party_kind_name(row->kind), and_more(c, n - 1));
		diag_help(
			c->diags,
			ir_grant_http(hit->grant)
				? "leave out what is not needed; if it is, 'allow_lint' says why"
				: "rules on requests ('http') can leave it out; if it is needed, 'allow_lint' says why");
	}
	lint_about(c, &hit->grant->dest);
}

static void lint_reached(struct pass_ctx *c, const third_party_hits *hits)
{
	uint32_t end;

	for (uint32_t i = 0; i < hits->n; i = end) {
		const struct third_party_hit *first[2] = {NULL, NULL};
		uint32_t n[2] = {0, 0};

		for (end = i;
		     end < hits->n && hits->v[end].grant == hits->v[i].grant;
		     end++) {
			bool shared = hits->v[end].place->shared;

			if (n[shared]++ == 0)
				first[shared] = &hits->v[end];
		}
		/* '*' has a warning of its own. */
		for (int k = 0; k < 2; k++)
			if (n[k] && hits->v[i].grant->dest.kind != IR_DEST_ANY)
				warn_reached(c, first[k], n[k]);
	}
}

/* Where it could be otherwise: with 'runc' somebody wrote it. */
static void lint_masks(struct pass_ctx *c, const struct ir_policy *p)
{
	if (ir_masks_hold(p) || p->runtime.v != IR_RUNTIME_RUNC)
		return;
	diag_warn(
		c->diags, DIAG_MASKS_START, p->masks.from.at,
		"masks are made at the start: what matches later, or a program on the host replaces, is not masked");
	diag_help(c->diags, "leave it out: then every access is judged");
}

/* What does as it is told is no program that a secret could be kept for. */
static void lint_protect(struct pass_ctx *c, const struct ir_policy *p)
{
	static const char *const told[] = {"ash",  "bash", "busybox", "dash",
					   "env",  "fish", "ksh",     "sh",
					   "tmux", "zsh"};

	vec_each(x, &p->protect)
		for (size_t i = 0; i < ARRAY_LEN(told); i++) {
			if (!str_is(x->by, told[i]))
				continue;
			diag_warn(
				c->diags, DIAG_PROTECT_SHELL, x->from.at,
				"'%s' reads what it is told to: files that are protected for it are protected from nobody",
				told[i]);
			diag_help(c->diags,
				  "name the program that needs the files");
		}
}

static void lint_ssh_agent(struct pass_ctx *c, const struct ir_policy *p)
{
	if (!ir_ssh_agent(p))
		return;
	diag_warn(
		c->diags, DIAG_SSH_SIGNS, p->ssh_agent.from.at,
		"whoever holds your ssh-agent can sign: the session with every key in it, wherever it gets to");
	diag_help(
		c->diags,
		"hold only the key there that is needed: 'ssh-add -c KEY' asks you each time");
}

/* Folders of a home that hold logins and keys, whole or what is in them. */
static const struct {
	const char *path;
	bool below;
} secret_folders[] = {
	{"/.aws", true},
	{"/.azure", true},
	{"/.config", false},
	{"/.config/gcloud", true},
	{"/.config/gh", true},
	{"/.docker", true},
	{"/.git-credentials", true},
	{"/.gnupg", true},
	{"/.kube", true},
	{"/.local/share/keyrings", true},
	{"/.local", false},
	{"/.local/share", false},
	{"/.mozilla", true},
	{"/.netrc", true},
	{"/.npmrc", true},
	{"/.password-store", true},
	{"/.pypirc", true},
	{"/.ssh", true},
	{"/.thunderbird", true},
	{"/.vault-token", true},
};

static void lint_visible(struct pass_ctx *c, const struct ir_policy *p)
{
	vec_each(t, &p->visible) {
		struct ir_visible v = visible_of(t->s);

		for (size_t i = 0; i < ARRAY_LEN(secret_folders); i++) {
			struct str at = str_of(secret_folders[i].path);

			if (!v.in_home ||
			    !(secret_folders[i].below
				      ? docker_mount_within(v.path, at)
				      : str_eq(v.path, at)))
				continue;
			diag_warn(
				c->diags, DIAG_SHOWN_SECRETS, t->from.at,
				"'~%s' holds logins or keys, and the agent reads what is visible",
				diag_quote(c->diags, v.path));
			diag_help(c->diags,
				  "name what is needed of it, further in");
			break;
		}
	}
}

const bool *lint_policy(struct pass_ctx *c, const struct ir_policy *p,
			const third_party_hits *reached)
{
	const bool *denied = uses_lint(c, p);

	grants_lint(c, p, denied);
	quic_lint(c, p, denied);
	literals_lint(c, p);
	lint_masks(c, p);
	lint_protect(c, p);
	lint_ssh_agent(c, p);
	lint_visible(c, p);
	lint_reached(c, reached);
	return denied;
}
