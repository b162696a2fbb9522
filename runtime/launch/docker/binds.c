#include "runtime/launch/docker/binds.h"

#include "compiler/base/buf.h"

bool binds_field(struct arena *a, struct str *rest, struct str *out,
		 bool *out_more)
{
	struct buf b;
	size_t i = 0;

	if (rest->n == 0 || rest->p[0] != '"') {
		i = str_find(*rest, ',', 0);
		*out = str_slice(*rest, 0, i);
		if (str_find(*out, '"', 0) != out->n)
			return false;
	} else {
		buf_init(&b, a);
		for (i = 1; i < rest->n; i++) {
			if (rest->p[i] == '"' &&
			    (i + 1 == rest->n || rest->p[++i] != '"'))
				break;
			buf_addc(&b, rest->p[i]);
		}
		if (i + 1 == rest->n && rest->p[i] == '"')
			i = rest->n;
		else if (i >= rest->n || rest->p[i] != ',')
			return false;
		*out = buf_str(&b);
	}
	*out_more = i < rest->n;
	*rest = str_slice(*rest, i + 1, rest->n);
	return true;
}

static bool is_one_of(struct str s, const char *a, const char *b, const char *c)
{
	return str_is(s, a) || str_is(s, b) || str_is(s, c);
}

static bool says_yes(struct str value, bool has_value)
{
	return !has_value || is_one_of(value, "1", "true", "TRUE") ||
	       is_one_of(value, "t", "T", "True");
}

static void read_mount(struct arena *a, struct str value, bind_list *out)
{
	struct bind b = {"", "", false};
	bool is_bind = false, more = true;

	while (more) {
		struct str field, key = STR("");
		bool has_value;

		if (!binds_field(a, &value, &field, &more))
			return; /* docker refuses it as well */
		has_value = str_find(field, '=', 0) < field.n;
		str_field(&field, '=', &key);
		if (str_is(key, "type"))
			is_bind = str_is(field, "bind");
		else if (is_one_of(key, "source", "src", "src"))
			b.source = arena_cstr(a, field);
		else if (is_one_of(key, "target", "dst", "destination"))
			b.target = arena_cstr(a, field);
		else if (is_one_of(key, "readonly", "ro", "ro"))
			b.readonly = says_yes(field, has_value);
	}
	if (is_bind && b.source[0] == '/')
		*vec_push(a, out) = b;
}

/* SOURCE:TARGET[:OPTIONS]; what is not absolute is a volume. */
static void read_volume(struct arena *a, struct str value, bind_list *out)
{
	struct bind b = {"", "", false};
	struct str field;

	if (!str_starts(value, STR("/")) || !str_field(&value, ':', &field))
		return;
	b.source = arena_cstr(a, field);
	if (!str_field(&value, ':', &field))
		return;
	b.target = arena_cstr(a, field);
	while (str_field(&value, ',', &field))
		b.readonly |= str_is(field, "ro");
	*vec_push(a, out) = b;
}

void binds_read(struct arena *a, char *const *words, bind_list *out)
{
	static const struct str mount = STR_INIT("--mount=");
	static const struct str volume = STR_INIT("--volume=");

	for (; *words; words++) {
		struct str w = str_of(*words);

		if (str_starts(w, mount))
			read_mount(a, str_slice(w, mount.n, w.n), out);
		else if (str_starts(w, volume))
			read_volume(a, str_slice(w, volume.n, w.n), out);
	}
}

/* Quoted, and so whatever is in it. */
static void put_field(struct buf *out, const char *key, struct str path)
{
	buf_addf(out, ",\"%s=", key);
	for (size_t i = 0; i < path.n; i++) {
		if (path.p[i] == '"')
			buf_addc(out, '"');
		buf_addc(out, path.p[i]);
	}
	buf_addc(out, '"');
}

const char *binds_word(struct arena *a, struct str source, struct str target,
		       bool readonly)
{
	struct buf b;

	buf_init(&b, a);
	buf_adds(&b, "--mount=type=bind");
	put_field(&b, "source", source);
	put_field(&b, "target", target);
	if (readonly)
		buf_adds(&b, ",readonly");
	return buf_str(&b).p;
}
