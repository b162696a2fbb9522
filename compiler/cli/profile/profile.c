#include "compiler/cli/profile/profile.h"

#include "compiler/cli/text/console.h"
#include "compiler/plan/docker_json.h"
#include "runtime/launch/docker/docker_info.h"
#include "runtime/launch/docker/endpoint.h"

#define ANSWER_MS 5000 /* a daemon that hangs is one that does not answer */

/* The sentence that a file of ours opens with, without the signs of comments.
 */
static struct str first_sentence(struct arena *a, struct str text)
{
	struct buf b;
	struct str line;
	size_t end;

	buf_init(&b, a);
	while (str_line(&text, &line) && str_starts(line, STR("#"))) {
		if (b.n)
			buf_addc(&b, ' ');
		buf_add(&b, str_trim(str_slice(line, 1, line.n)));
	}
	for (end = 0; end < b.n; end++)
		if ((b.p[end] == '.' || b.p[end] == ':') &&
		    (end + 1 == b.n || b.p[end + 1] == ' '))
			break;
	return str_slice(buf_str(&b), 0, end);
}

bool profile_read(struct arena *a, const char *policies, const char *folder,
		  const char *name, struct profile *out)
{
	/* By its own name, not by that of the global file. */
	struct front_input in = {.policies = policies, .prefix = ""};
	struct err err;

	*out = (struct profile){.name = name};
	in.global = arena_fmt(a, "%s/%s%s.yaml", policies, folder, name).p;
	if (driver_compile(&out->c, &in, &err) < 0) {
		console_error("%s", view_cleaned(a, str_of(err.text)).p);
		return false;
	}
	if (!out->c.ok) {
		console_diags(a, &out->c.diags);
		return false;
	}
	vec_each(s, &out->c.sources.list)
		if (s->layer == LAYER_GLOBAL)
			out->about = first_sentence(a, s->text);
	return true;
}

uint32_t profile_grants(const struct profile *p)
{
	return p->c.policy.allow.n;
}

static void put_credentials(const struct view *v, const struct profile *p)
{
	struct arena *a = v->out->a;

	vec_each(x, &p->c.policy.credentials)
		view_row(v, 2, VIEW_PLAIN,
			 arena_fmt(a, "%s, kept on the host",
				   view_cleaned(a, x->source).p),
			 arena_fmt(a, "login of %s",
				   ir_dest_text(a, &x->host).p));
}

void profile_view(const struct view *v, const struct profile *p)
{
	const struct ir_policy *policy = &p->c.policy;
	struct arena *a = v->out->a;

	vec_each(g, &policy->allow)
		view_row(v, 2, VIEW_GOOD, view_cleaned(a, g->canon),
			 STR("reached"));
	put_credentials(v, p);
	vec_each(t, &policy->args)
		view_row(v, 2, VIEW_PLAIN, view_cleaned(a, t->s),
			 STR("docker run"));
	vec_each(x, &policy->purposes)
		view_row(v, 2, VIEW_DIM,
			 arena_fmt(a, "%.*s: %s",
				   STR_ARG(ir_dest_text(a, &x->dest)),
				   view_cleaned(a, x->reason).p),
			 STR("refused"));
	if (policy->image.from.layer != LAYER_FLOOR)
		view_row(v, 2, VIEW_PLAIN, view_cleaned(a, policy->image.v),
			 STR("image"));
}

/* One after the other, until one is not there: 1 when all are, 0, or an error.
 */
static int has_images(struct arena *a, const char *const *images, size_t n)
{
	struct endpoint at = {0};
	struct docker *d = NULL;
	struct err err;
	int rc;

	rc = endpoint_find(a, endpoint_getenv, &at, &err);
	at.timeout_ms = ANSWER_MS;
	if (rc == 0)
		rc = docker_open(a, &at, &d, &err);
	if (rc == 0)
		rc = 1;
	for (size_t i = 0; rc == 1 && i < n; i++)
		rc = docker_has_image(d, images[i], &err);
	docker_close(d);
	return rc;
}

const char *profile_image_state(struct arena *a, const struct agent *g)
{
	const char *image = arena_fmt(a, AGENTS_IMAGE "%s", g->name).p;
	int rc = has_images(a, &image, 1);

	return rc < 0 ? "unknown" : rc ? "built" : "missing";
}

bool profile_session_lacks(struct arena *a)
{
	static const char *const images[] = {DOCKER_JSON_IMAGE_GATE,
					     DOCKER_JSON_IMAGE_WATCH,
					     DOCKER_JSON_IMAGE_VIEW};

	return has_images(a, images, ARRAY_LEN(images)) == 0;
}
