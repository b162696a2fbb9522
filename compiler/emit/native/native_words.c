/*
 * Raw arguments and folders in memory, as far as membrane's own engine takes
 * them: what Docker would make of another word has to be refused, or it would
 * fail when a session starts, or be left out.
 */
#include "compiler/emit/docker/agent.h"
#include "compiler/emit/native/parts.h"
#include "compiler/ir/docker_mount.h"
#include "compiler/ir/image.h"

/* What begins with a variable is looked at when it is known. */
static bool is_absolute(struct str path)
{
	return path.n && (path.p[0] == '/' || path.p[0] == '$');
}

static bool refuse_value(const struct emit_in *in, const struct arg *arg,
			 const char *what, const char *help)
{
	return native_refuse(in, arg->value_at, what, help);
}

/* --- mounts -------------------------------------------------------------- */

static bool is_mount_field(struct str field)
{
	static const char *const whole[] = {"type=bind",     "type=tmpfs",
					    "readonly",	     "ro",
					    "readonly=true", "ro=true"};
	static const char *const keys[] = {"source", "src", "target", "dst",
					   "destination"};
	struct str value = field, key = field;

	for (size_t i = 0; i < ARRAY_LEN(whole); i++)
		if (str_is(field, whole[i]))
			return true;
	(void)str_field(&value, '=', &key);
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (str_is(key, keys[i]) && is_absolute(value))
			return true;
	return false;
}

static bool check_mount(const struct emit_in *in, const struct arg *arg)
{
	struct str rest = arg->value, field;
	bool has_type = false, more = true;

	while (more) {
		if (!docker_mount_field(in->a, &rest, &more, &field) ||
		    !is_mount_field(field))
			return refuse_value(
				in, arg,
				arena_fmt(in->a, "it makes no mount with '%s'",
					  diag_quote(in->diags, field))
					.p,
				"write type=bind or type=tmpfs, source, target and readonly, with absolute paths");
		has_type |= str_starts(field, STR("type="));
	}
	return has_type ||
	       refuse_value(in, arg,
			    "without a type it is a volume, which is Docker's",
			    "write type=bind and a source");
}

static bool check_volume(const struct emit_in *in, const struct arg *arg)
{
	struct str rest = arg->value, source, target;

	if (!is_absolute(rest) || !str_field(&rest, ':', &source) ||
	    !str_field(&rest, ':', &target))
		return refuse_value(in, arg, "volumes are Docker's",
				    "write SOURCE:TARGET, both absolute");
	return rest.n == 0 || str_is(rest, "ro") || str_is(rest, "rw") ||
	       refuse_value(in, arg,
			    arena_fmt(in->a, "'%s' is an option of Docker's",
				      diag_quote(in->diags, rest))
				    .p,
			    "write SOURCE:TARGET, or SOURCE:TARGET:ro");
}

static bool is_memory_option(struct str option)
{
	static const char *const words[] = {"exec",  "noexec", "nosuid",
					    "nodev", "ro",     "rw"};
	static const char *const keys[] = {"size=", "mode=", "uid=", "gid="};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (str_is(option, words[i]))
			return true;
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (str_starts(option, str_of(keys[i])))
			return true;
	return false;
}

/* The options behind the path of a folder in memory. */
static bool check_memory(const struct emit_in *in, struct str value,
			 struct span at)
{
	struct str path, option;

	(void)str_field(&value, ':', &path);
	while (str_field(&value, ',', &option))
		if (!is_memory_option(option))
			return native_refuse(
				in, at,
				arena_fmt(
					in->a,
					"'%s' is an option of Docker's folders in memory",
					diag_quote(in->diags, option))
					.p,
				"leave it out: exec, size, mode, uid, gid and ro are there");
	return true;
}

/* --- the rest ------------------------------------------------------------ */

static bool check_path(const struct emit_in *in, const struct arg *arg)
{
	return is_absolute(arg->value) ||
	       refuse_value(in, arg,
			    "there is no image that could say where that is",
			    "write an absolute path");
}

static bool check_entry(const struct emit_in *in, const struct arg *arg)
{
	struct image_archive ignored;

	/* an image's own is not begun then */
	return arg->value.n ||
	       image_archive(in->policy->image.v, &ignored) ||
	       refuse_value(in, arg, "there is no image that has an entrypoint",
			    "leave it out");
}

static bool check_word(const struct emit_in *in, const struct arg *arg)
{
	if (str_is(arg->option, "env") || str_is(arg->option, "init"))
		return true;
	if (str_is(arg->option, "mount"))
		return check_mount(in, arg);
	if (str_is(arg->option, "volume"))
		return check_volume(in, arg);
	if (str_is(arg->option, "tmpfs"))
		return check_memory(in, arg->value, arg->value_at);
	if (str_is(arg->option, "workdir"))
		return check_path(in, arg);
	if (str_is(arg->option, "entrypoint"))
		return check_entry(in, arg);
	return native_or_docker(in, arg->from.at,
			    arena_fmt(in->a, "'--%.*s' is a word of Docker's",
				      STR_ARG(arg->option))
				    .p,
			    "leave it out");
}

bool native_words_check(const struct emit_in *in)
{
	bool ok = docker_tmpfs_check(in);

	vec_each(t, &in->policy->hardening.tmpfs)
		ok &= check_memory(in, t->s, t->from.at);
	vec_each(arg, &in->policy->docker_args)
		ok &= check_word(in, arg);
	return ok;
}
