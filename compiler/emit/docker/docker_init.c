/*
 * The init's part of docker.json. It takes the place of the image's entrypoint,
 * which it begins in turn: so words of the policy about that, about the folder
 * that the command begins in and about an init are read here, and stand before
 * ours, of which docker takes the last.
 */
#include "compiler/emit/docker/parts.h"

#include "compiler/ir/docker_run.h"
#include "compiler/plan/docker_json.h"
#include "compiler/plan/init_words.h"

/* The last that the policy says of an option, or NULL. */
static const struct arg *last_arg(const struct ir_policy *p, const char *option)
{
	const struct arg *last = NULL;

	vec_each(arg, &p->docker_args)
		if (str_is(arg->option, option))
			last = arg;
	return last;
}

/* Programs that have to be the first process themselves, as an init of the
 * image's own, are that with --init=false. */
static bool is_unwanted(const struct ir_policy *p)
{
	const struct arg *arg = last_arg(p, "init");
	bool wanted = true;

	if (arg)
		ignore(docker_run_bool(arg->value, &wanted));
	return !wanted;
}

void docker_init_environment(struct argv *w)
{
	argv_put(w, "--env=MEMBRANE=1");
	argv_put(w, "--env=MEMBRANE_SESSION={session}");
	argv_put(w, DOCKER_JSON_ENVIRONMENT);
}

static void put_begin(struct argv *w, const struct arg *folder)
{
	argv_put(
		w,
		"--mount=type=bind,source={state}/sessions/{session}/" DOCKER_JSON_INIT
		",target=" DOCKER_JSON_INIT_AT ",readonly");
	/* elsewhere a file system of the guest's own is between the two ends */
	if (ir_runtime_is_runc(w->in->policy))
		argv_put(
			w,
			"--mount=type=bind,source={state}/sessions/{session}/" DOCKER_JSON_BEGUN
			",target=" DOCKER_JSON_BEGUN_AT ",readonly");
	argv_put(w, "--entrypoint=" DOCKER_JSON_INIT_AT);
	if (last_arg(w->in->policy, "init"))
		argv_put(w, "--init=false");
	if (folder)
		argv_put(w, "--workdir=/");
}

void docker_init_put(struct argv *w)
{
	const struct ir_policy *p = w->in->policy;
	const struct arg *folder = last_arg(p, "workdir");
	const struct arg *entry = last_arg(p, "entrypoint");

	if (is_unwanted(p)) {
		argv_image(w);
		/* Docker begins itself what an image has */
		if (w->native && !entry)
			argv_put(w, DOCKER_JSON_ENTRYPOINT);
		argv_put(w, DOCKER_JSON_COMMAND);
		return;
	}
	if (folder && folder->value.n == 0)
		folder = NULL;
	put_begin(w, folder);
	argv_image(w);
	argv_put(w, DOCKER_JSON_INIT_WORDS);
	if (p->protect.n)
		argv_put(w, INIT_PROTECTS);
	if (folder)
		argv_raw_value(w, INIT_FOLDER, folder);
	argv_put(w, INIT_END);
	if (!entry)
		argv_put(w, DOCKER_JSON_ENTRYPOINT);
	else if (entry->value.n)
		argv_raw_value(w, "", entry);
	argv_put(w, DOCKER_JSON_COMMAND);
}
