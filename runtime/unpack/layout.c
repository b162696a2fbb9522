/*
 * What an archive holds: manifest.json of `docker save`, or index.json of an OCI
 * image layout. One image, for this machine's processor.
 */
#include "runtime/unpack/parts.h"

#include "compiler/base/sha256.h"

#include <archive.h>
#include <archive_entry.h>
#include <cjson/cJSON.h>
#include <errno.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define CHUNK	  (64u << 10)
#define LINKS_MAX 4 /* of entries that lead to entries */
#define WORDS_MAX 1024 /* of one list of the config's */

struct reading {
	struct arena *a;
	int fd;
	struct err *err;
};

static int fail(const struct reading *r, const char *what)
{
	return err_set(r->err, -EPROTO, "%s", what);
}

/* --- entries ---------------------------------------------------------------- */

struct archive *layout_reader(void)
{
	struct archive *a = archive_read_new();

	if (!a)
		return NULL;
	/* by name: others would start programs */
	archive_read_support_filter_gzip(a);
	archive_read_support_filter_zstd(a);
	archive_read_support_format_tar(a);
	return a;
}

static int open_archive(int fd, struct archive **out, struct err *err)
{
	struct archive *a = layout_reader();

	if (!a)
		return err_set(err, -ENOMEM, "no memory");
	if (lseek(fd, 0, SEEK_SET) < 0 ||
	    archive_read_open_fd(a, fd, CHUNK) != ARCHIVE_OK) {
		err_set(err, -EPROTO, "it is no tar file: %s",
			archive_error_string(a));
		archive_read_free(a);
		return err->code;
	}
	*out = a;
	return 0;
}

/* 1: there it is, or a link to *out_to; 0: it is not there. */
static int seek_entry(struct arena *a, struct archive *in, const char *name,
		      const char **out_to, struct err *err)
{
	struct archive_entry *e;
	int rc;

	*out_to = NULL;
	while ((rc = archive_read_next_header(in, &e)) == ARCHIVE_OK ||
	       rc == ARCHIVE_WARN) {
		const char *own = archive_entry_pathname(e);
		const char *path = own ? tree_path(a, own) : NULL;

		if (!path || strcmp(path, name) != 0)
			continue;
		if (archive_entry_hardlink(e))
			*out_to = tree_path(a, archive_entry_hardlink(e));
		else if (archive_entry_filetype(e) == AE_IFLNK &&
			 archive_entry_symlink(e))
			*out_to = arena_cstr(a, str_of(archive_entry_symlink(e)));
		return 1;
	}
	return rc == ARCHIVE_EOF ? 0
				 : err_set(err, -EPROTO, "%s",
					   archive_error_string(in));
}

/* Docker writes a layer that is there twice as "../OTHER/layer.tar". */
static const char *follow(struct arena *a, const char *name, const char *to)
{
	const char *slash = strchr(name, '/');

	if (slash && strncmp(to, "../", 3) == 0)
		return tree_path(a, to + 3);
	return tree_path(a, to);
}

int layout_seek(int fd, const char *name, struct archive **out, struct err *err)
{
	struct arena *a = arena_new();
	const char *at = name;
	int rc = -EPROTO;

	for (int i = 0; i < LINKS_MAX && at; i++) {
		const char *to = NULL;

		rc = open_archive(fd, out, err);
		if (rc == 0)
			rc = seek_entry(a, *out, at, &to, err);
		if (rc == 1 && !to)
			break;
		if (rc >= 0)
			archive_read_free(*out);
		if (rc == 0)
			rc = err_set(err, -ENOENT, "it has no '%.200s'", name);
		if (rc < 0)
			break;
		at = follow(a, at, to);
		rc = err_set(err, -EPROTO, "'%.200s' is a link", name);
	}
	arena_free(a);
	return rc == 1 ? 0 : rc;
}

/* --- JSON --------------------------------------------------------------------- */

static int read_bytes(const struct reading *r, const char *name,
		      struct str *out)
{
	char *bytes = arena_alloc(r->a, UNPACK_JSON_MAX);
	struct archive *in;
	la_ssize_t got = 0;
	size_t n = 0;
	int rc = layout_seek(r->fd, name, &in, r->err);

	if (rc < 0)
		return rc;
	while (n < UNPACK_JSON_MAX &&
	       (got = archive_read_data(in, bytes + n, UNPACK_JSON_MAX - n)) > 0)
		n += (size_t)got;
	if (got < 0)
		rc = fail(r, archive_error_string(in));
	else if (n == UNPACK_JSON_MAX)
		rc = err_set(r->err, -EFBIG, "'%.200s' is too long", name);
	archive_read_free(in);
	*out = (struct str){bytes, n};
	return rc;
}

static int read_json(const struct reading *r, const char *name, cJSON **out)
{
	struct str text;
	int rc = read_bytes(r, name, &text);

	if (rc < 0)
		return rc;
	*out = cJSON_ParseWithLength(text.p, text.n);
	return *out ? 0
		    : err_set(r->err, -EPROTO, "'%.200s' is not JSON", name);
}

static const char *text_of(const cJSON *o, const char *name)
{
	return cJSON_GetStringValue(
		cJSON_GetObjectItemCaseSensitive(o, name));
}

/* The entry of a descriptor; NULL: it names none. */
static const char *blob_of(const struct reading *r, const cJSON *descriptor)
{
	static const struct str sha = STR_INIT("sha256:");
	const char *digest = text_of(descriptor, "digest");
	struct str hex = digest ? str_of(digest) : (struct str){0};

	if (!str_starts(hex, sha))
		return NULL;
	hex = str_slice(hex, sha.n, hex.n);
	return sha256_is_hex(hex)
		       ? arena_fmt(r->a, "blobs/sha256/%.*s", STR_ARG(hex)).p
		       : NULL;
}

/* --- what it holds -------------------------------------------------------------- */

static const char *own_architecture(void)
{
	struct utsname u;

	if (uname(&u) < 0)
		return "";
	return strcmp(u.machine, "x86_64") == 0    ? "amd64"
	       : strcmp(u.machine, "aarch64") == 0 ? "arm64"
						   : "";
}

/* A list of words; null, as Docker writes an empty one, is none. */
static int read_words(const struct reading *r, const cJSON *config,
		      const char *name, layout_words *out)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(config, name),
		    *one;

	if (list && !cJSON_IsNull(list) && !cJSON_IsArray(list))
		return err_set(r->err, -EPROTO, "its '%s' makes no sense",
			       name);
	cJSON_ArrayForEach(one, list) {
		const char *text = cJSON_GetStringValue(one);

		if (!text || out->n == WORDS_MAX)
			return err_set(r->err, -EPROTO,
				       "its '%s' makes no sense", name);
		*vec_push(r->a, out) = arena_cstr(r->a, str_of(text));
	}
	return 0;
}

/* https://github.com/opencontainers/image-spec/blob/main/config.md */
static int read_run(const struct reading *r, const cJSON *config,
		    struct layout *out)
{
	int rc = read_words(r, config, "Env", &out->env);

	if (rc == 0)
		rc = read_words(r, config, "Entrypoint", &out->entrypoint);
	if (rc == 0)
		rc = read_words(r, config, "Cmd", &out->command);
	if (rc < 0)
		return rc;
	vec_each(e, &out->env)
		if (**e == '=' || !strchr(*e, '='))
			return fail(r, "its 'Env' makes no sense");
	return 0;
}

static int read_config(const struct reading *r, const char *name,
		       struct layout *out)
{
	const char *own = own_architecture(), *system, *processor;
	cJSON *config = NULL;
	int rc = read_json(r, name, &config);

	if (rc < 0)
		return rc;
	system = text_of(config, "os");
	processor = text_of(config, "architecture");
	if (!system || strcmp(system, "linux") != 0 || !processor ||
	    strcmp(processor, own) != 0)
		rc = err_set(r->err, -EPROTO,
			     "it is for %.40s on %.40s, and this is linux on %s",
			     system ? system : "no system",
			     processor ? processor : "no processor", own);
	else
		rc = read_run(r,
			      cJSON_GetObjectItemCaseSensitive(config,
							       "config"),
			      out);
	cJSON_Delete(config);
	return rc;
}

static int add_layer(const struct reading *r, const char *name,
		     struct layout *out)
{
	const char *path = name ? tree_path(r->a, name) : NULL;

	if (!path || !*path || out->layers.n == UNPACK_LAYERS_MAX)
		return fail(r, "its list of layers makes no sense");
	*vec_push(r->a, &out->layers) = path;
	return 0;
}

static int read_docker(const struct reading *r, const cJSON *list,
		       struct layout *out)
{
	const cJSON *image = cJSON_GetArrayItem(list, 0), *layer;
	const char *config = text_of(image, "Config");
	int rc;

	if (!cJSON_IsArray(list) || cJSON_GetArraySize(list) != 1)
		return fail(r, "it holds several images: save one");
	rc = config ? read_config(r, tree_path(r->a, config), out)
		    : fail(r, "manifest.json names no config");
	cJSON_ArrayForEach(layer, cJSON_GetObjectItemCaseSensitive(image,
								  "Layers"))
		rc = rc < 0 ? rc
			    : add_layer(r, cJSON_GetStringValue(layer), out);
	return rc;
}

static int read_manifest(const struct reading *r, const cJSON *manifest,
			 struct layout *out)
{
	const cJSON *layer;
	const char *config = blob_of(r, cJSON_GetObjectItemCaseSensitive(
						manifest, "config"));
	int rc = config ? read_config(r, config, out)
			: fail(r, "its manifest names no config");

	cJSON_ArrayForEach(layer, cJSON_GetObjectItemCaseSensitive(manifest,
								  "layers"))
		rc = rc < 0 ? rc : add_layer(r, blob_of(r, layer), out);
	return rc;
}

/* Of one, or of the only one for this processor. */
static const cJSON *choose(const cJSON *index)
{
	const cJSON *list =
			    cJSON_GetObjectItemCaseSensitive(index, "manifests"),
		    *one, *found = NULL;

	if (cJSON_GetArraySize(list) == 1)
		return cJSON_GetArrayItem(list, 0);
	cJSON_ArrayForEach(one, list) {
		const cJSON *p =
			cJSON_GetObjectItemCaseSensitive(one, "platform");
		const char *is = text_of(p, "architecture"),
			   *on = text_of(p, "os");

		if (!is || !on || strcmp(on, "linux") != 0 ||
		    strcmp(is, own_architecture()) != 0)
			continue;
		if (found)
			return NULL;
		found = one;
	}
	return found;
}

/* An index may name another one: image-spec, image-index.md. */
static int read_index(const struct reading *r, const cJSON *index,
		      struct layout *out)
{
	const cJSON *one = choose(index);
	const char *name = one ? blob_of(r, one) : NULL;
	cJSON *next = NULL;
	int rc = name ? read_json(r, name, &next)
		      : fail(r, "it does not hold one image for this processor");

	if (rc == 0 && cJSON_HasObjectItem(next, "manifests")) {
		one = choose(next);
		name = one ? blob_of(r, one) : NULL;
		cJSON_Delete(next);
		next = NULL;
		rc = name ? read_json(r, name, &next)
			  : fail(r,
				 "it does not hold one image for this processor");
	}
	if (rc == 0)
		rc = read_manifest(r, next, out);
	cJSON_Delete(next);
	return rc;
}

int layout_read(struct arena *a, int fd, struct layout *out, struct err *err)
{
	const struct reading r = {a, fd, err};
	cJSON *tree = NULL;
	int rc = read_json(&r, "manifest.json", &tree);

	*out = (struct layout){0};
	if (rc == 0)
		rc = read_docker(&r, tree, out);
	else if (rc == -ENOENT && (rc = read_json(&r, "index.json", &tree)) == 0)
		rc = read_index(&r, tree, out);
	else if (rc == -ENOENT)
		rc = fail(&r, "it has neither manifest.json nor index.json");
	cJSON_Delete(tree);
	if (rc == 0 && out->layers.n == 0)
		rc = fail(&r, "it has no layers");
	return rc;
}
