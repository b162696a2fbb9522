#include "runtime/launch/session/metadata.h"

#include "compiler/base/sys/fileio.h"
#include "compiler/base/json.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define FILE_MAX    (8u << 20) /* a command line may be long */
#define INSIDE	    "/workspace"
#define STARTED	    "%Y-%m-%dT%H:%M:%SZ"
#define STARTED_MAX 32u

static const char *file_of(struct arena *a, const struct session *s)
{
	return arena_fmt(a, "%s/session.json", s->dir).p;
}

static const char *time_text(struct arena *a, int64_t at_s)
{
	char *text = arena_alloc(a, STARTED_MAX);
	time_t t = (time_t)at_s;
	struct tm tm;

	if (!gmtime_r(&t, &tm) || !strftime(text, STARTED_MAX, STARTED, &tm))
		return "";
	return text;
}

const char *metadata_engine(const char *name)
{
	if (strcmp(name, "kubernetes") == 0)
		return "Kubernetes";
	return strcmp(name, "native") == 0 ? "the native engine" : "Docker";
}

const char *metadata_now(struct arena *a)
{
	return time_text(a, time(NULL));
}

static void add_found(cJSON *o, const struct metadata_found *found)
{
	cJSON *roots;

	cJSON_AddStringToObject(o, "engine", found->engine);
	if (found->resolver)
		cJSON_AddStringToObject(o, "resolver", found->resolver);
	else
		cJSON_AddNullToObject(o, "resolver");
	if (!found->roots)
		return;
	roots = cJSON_AddObjectToObject(o, "upstream_ca");
	cJSON_AddStringToObject(roots, "file", found->roots);
	cJSON_AddNumberToObject(roots, "certificates", found->n_roots);
	cJSON_AddStringToObject(roots, "sha256", found->digest);
}

int metadata_write(struct arena *a, const struct session *s,
		   const char *workspace, char *const *command,
		   const char *also, const struct metadata_found *found,
		   const struct metadata_streams *streams, struct err *err)
{
	cJSON *o = cJSON_CreateObject(), *words, *places;
	struct str line;

	cJSON_AddNumberToObject(o, "version", 1);
	cJSON_AddStringToObject(o, "session", s->id);
	cJSON_AddStringToObject(o, "started", metadata_now(a));
	cJSON_AddStringToObject(o, "workspace", workspace);
	words = cJSON_AddArrayToObject(o, "command");
	for (size_t i = 0; command[i]; i++)
		cJSON_AddItemToArray(words, cJSON_CreateString(command[i]));
	places = cJSON_AddArrayToObject(o, "mounted");
	cJSON_AddItemToArray(places, cJSON_CreateString(INSIDE));
	if (also)
		cJSON_AddItemToArray(places, cJSON_CreateString(also));
	add_found(o, found);
	cJSON_AddBoolToObject(o, "detached", streams->kept);
	cJSON_AddBoolToObject(o, "terminal", streams->tty);
	cJSON_AddBoolToObject(o, "input", streams->input);
	line = arena_fmt(a, "%s\n", json_compact(a, o).p);
	return fileio_write(AT_FDCWD, file_of(a, s), line, 0600, err);
}

/* Of a version that had only one place there is no list. */
static bool parse_places(struct arena *a, const cJSON *o, struct metadata *out)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(o, "mounted");
	const cJSON *place;

	if (!list)
		*vec_push(a, &out->mounted) = INSIDE;
	else if (!cJSON_IsArray(list))
		return false;
	cJSON_ArrayForEach(place, list) {
		if (!cJSON_IsString(place) || place->valuestring[0] != '/')
			return false;
		*vec_push(a, &out->mounted) =
			arena_cstr(a, str_of(place->valuestring));
	}
	return true;
}

static bool parse_about(struct arena *a, const cJSON *o, struct metadata *out)
{
	const cJSON *started = cJSON_GetObjectItemCaseSensitive(o, "started");
	const cJSON *where = cJSON_GetObjectItemCaseSensitive(o, "workspace");
	const cJSON *words = cJSON_GetObjectItemCaseSensitive(o, "command");
	const cJSON *engine = cJSON_GetObjectItemCaseSensitive(o, "engine");
	const cJSON *word;
	struct tm tm = {0};
	const char *end;

	if (!cJSON_IsString(started) || !cJSON_IsString(where) ||
	    !cJSON_IsArray(words) || !parse_places(a, o, out))
		return false;
	end = strptime(started->valuestring, STARTED, &tm);
	if (!end || *end)
		return false;
	cJSON_ArrayForEach(word, words) {
		if (!cJSON_IsString(word))
			return false;
		*vec_push(a, &out->command) =
			arena_cstr(a, str_of(word->valuestring));
	}
	/* without it, it is of a version that had no other, or told no more */
	out->engine = cJSON_IsString(engine)
			      ? arena_cstr(a, str_of(engine->valuestring))
		      : session_is_pod(&out->session)	 ? "kubernetes"
		      : session_is_native(&out->session) ? "native"
							 : "docker";
	out->started_s = timegm(&tm);
	out->workspace = arena_cstr(a, str_of(where->valuestring));
	/* without these it is of a version that kept nobody's streams */
	out->streams = (struct metadata_streams){json_find_true(o, "detached"),
						 json_find_true(o, "terminal"),
						 json_find_true(o, "input")};
	return true;
}

void metadata_read(struct arena *a, const struct session *s,
		   struct metadata *out)
{
	struct metadata x = {
		.session = *s, .workspace = "", .engine = "docker"};
	struct err ignored;
	struct str text;
	struct stat st;

	if (fileio_read(a, AT_FDCWD, file_of(a, s), FILE_MAX, &text,
			&ignored) == 0) {
		cJSON *o = cJSON_ParseWithLength(text.p, text.n);

		x.known = parse_about(a, o, &x);
		cJSON_Delete(o);
	}
	if (!x.known) {
		x.command.n = x.mounted.n = 0;
		*vec_push(a, &x.mounted) = INSIDE;
		x.started_s = stat(s->dir, &st) == 0 ? st.st_mtime : 0;
	}
	x.started = time_text(a, x.started_s);
	*out = x;
}

static const char *member_text(struct arena *a, const cJSON *o,
			       const char *name)
{
	struct str s;

	return json_get_str(o, name, &s) ? arena_cstr(a, s) : NULL;
}

void metadata_end_read(struct arena *a, const struct session *s,
		       struct metadata_end *out)
{
	const char *path = arena_fmt(a, "%s/summary.json", s->dir).p;
	struct err ignored;
	const cJSON *status;
	struct str text;
	cJSON *o;

	*out = (struct metadata_end){.at = ""};
	if (fileio_read(a, AT_FDCWD, path, FILE_MAX, &text, &ignored) < 0)
		return;
	o = cJSON_ParseWithLength(text.p, text.n);
	status = cJSON_GetObjectItemCaseSensitive(o, "status");
	if (cJSON_IsNumber(status) && status->valueint >= 0 &&
	    status->valueint <= 255) {
		out->known = true;
		out->status = status->valueint;
		out->error = member_text(a, o, "error");
		out->at = member_text(a, o, "ended");
		if (!out->at)
			out->at = "";
	}
	cJSON_Delete(o);
}

bool metadata_is_at_end(const struct session *s)
{
	struct arena *a = arena_new();
	struct metadata_end end;

	metadata_end_read(a, s, &end);
	arena_free(a);
	return end.known;
}

int metadata_find_kept(struct arena *a, const char *state, struct metadata *out,
		       struct err *err)
{
	sessions all = {0};
	enum session_found is;
	unsigned found = 0;
	int rc = session_list(a, state, &all, err);

	vec_each(s, &all) {
		struct metadata x;

		metadata_read(a, s, &x);
		if (rc < 0 || !x.streams.kept)
			continue;
		rc = metadata_state(&x, &is, err);
		if (rc == 0 && is == SESSION_ALIVE && ++found == 1)
			*out = x;
	}
	if (rc < 0 || found == 1)
		return rc;
	return err_set(
		err, -ENOENT, "%s",
		found ? "several sessions run that 'start' began: 'membrane ps' lists them"
		      : "no session runs that 'start' began");
}

int metadata_find(struct arena *a, const char *state, struct str which,
		  struct metadata *out, struct err *err)
{
	sessions all = {0};
	struct metadata best = {0}, x;
	unsigned found = 0;
	int rc = session_list(a, state, &all, err);

	if (rc < 0)
		return rc;
	vec_each(s, &all) {
		if (!str_starts(str_of(s->id), which) ||
		    (which.n && which.n < METADATA_LEAST))
			continue;
		metadata_read(a, s, &x);
		if (found++ == 0 || x.started_s > best.started_s ||
		    (x.started_s == best.started_s &&
		     strcmp(x.session.id, best.session.id) > 0))
			best = x;
	}
	if (found == 0 && which.n == 0)
		return err_set(
			err, -ENOENT,
			"there is no session yet: 'membrane run' makes one");
	if (found == 0)
		return err_set(
			err, -ENOENT,
			"there is no session '%.*s': 'membrane ps --all' lists them",
			STR_ARG(str_slice(which, 0, 64)));
	if (found > 1 && which.n)
		return err_set(err, -ENOENT,
			       "'%.*s' is the beginning of several sessions",
			       STR_ARG(which));
	*out = best;
	return 0;
}

int metadata_state(const struct metadata *x, enum session_found *out,
		   struct err *err)
{
	struct session s = x->session;
	int rc = session_take(&s, err);

	if (rc < 0)
		return rc;
	session_release(&s, false);
	*out = (enum session_found)rc;
	if (rc == SESSION_ALIVE && metadata_is_at_end(&s))
		*out = SESSION_FINISHED;
	return 0;
}
