#include "compiler/trace/reader.h"

#include "compiler/trace/input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>

#define CHUNK	(256u << 10)
#define DEPTH	64
#define KEY_MAX 256
#define SPACE_BYTES                                                            \
	(READER_LINE_MAX + (64u << 10)) /* for texts of one event              \
					 */

/* Where in a record the parser is. */
enum place {
	IN_NOTHING, /* between records */
	IN_RECORD,
	IN_ARGS,  /* the list */
	IN_ARG,	  /* one of it: name, type, value */
	IN_VALUE, /* below "value" */
	IN_REST,  /* something that is not looked at */
};

/* What a member of a record is kept as. */
enum keep_as {
	AS_NOTHING,
	AS_TIME,
	AS_NUMBER, /* an int64_t of the event */
	AS_TEXT,   /* a struct str of it */
	AS_ARGS,
	AS_NAME, /* of an argument */
	AS_VALUE,
};

struct member {
	struct str name;
	enum keep_as as;
	size_t offset;
};

struct reader {
	struct input *in;
	struct reader_counts counts;
	char buf[CHUNK + READER_LINE_MAX];
	size_t beg, end; /* of what was read and not yet handed on */
	uint64_t lines;
	size_t tried;  /* bytes behind the last LF that are no record yet */
	bool skipping; /* a line of more than READER_LINE_MAX */
	yajl_handle json;
	struct trace_event event;
	/* The parser's state within a record. */
	enum place place;
	int depth, rest_depth, value_depth;
	const struct member *member; /* that comes */
	size_t prefix_n[DEPTH];	     /* of arg_key, at each depth of a value */
	char arg_key[KEY_MAX];	     /* "remote_addr.sin_addr" */
	size_t arg_key_n;
	bool good;
	char space[SPACE_BYTES];
	size_t used;
};

/* --- texts ---------------------------------------------------------------- */

static struct str keep_text(struct reader *r, const char *p, size_t n)
{
	struct str s = {r->space + r->used, n};

	if (n > SPACE_BYTES - r->used) {
		r->good = false;
		return (struct str){0};
	}
	memcpy(r->space + r->used, p, n);
	r->used += n;
	return s;
}

/* --- members of a record -------------------------------------------------- */

#define MEMBER(name, as, field)                                                \
	{                                                                      \
		STR_INIT(name), as, offsetof(struct trace_event, field)        \
	}
static const struct member of_record[] = {
	MEMBER("timestamp", AS_TIME, at_ns),
	MEMBER("processId", AS_NUMBER, pid),
	MEMBER("threadId", AS_NUMBER, tid),
	MEMBER("parentProcessId", AS_NUMBER, ppid),
	MEMBER("hostProcessId", AS_NUMBER, host_pid),
	MEMBER("hostParentProcessId", AS_NUMBER, host_ppid),
	MEMBER("userId", AS_NUMBER, uid),
	MEMBER("returnValue", AS_NUMBER, ret),
	MEMBER("eventName", AS_TEXT, name),
	MEMBER("processName", AS_TEXT, comm),
	MEMBER("containerId", AS_TEXT, container),
	MEMBER("syscall", AS_TEXT, syscall),
	MEMBER("args", AS_ARGS, leaf),
};
#undef MEMBER
static const struct member of_arg[] = {
	{STR_INIT("name"), AS_NAME, 0},
	{STR_INIT("value"), AS_VALUE, 0},
};
static const struct member of_no_interest = {STR_INIT(""), AS_NOTHING, 0};

/* Called for each member of each record: most differ by their length. */
static const struct member *find_member(const struct member *table,
					size_t n_table, const unsigned char *p,
					size_t n)
{
	for (size_t i = 0; i < n_table; i++)
		if (table[i].name.n == n && memcmp(table[i].name.p, p, n) == 0)
			return &table[i];
	return &of_no_interest;
}

static void take_number(struct reader *r, struct str text)
{
	bool negative = str_starts(text, STR("-"));
	void *to = (char *)&r->event + r->member->offset;
	uint64_t v;

	if (r->member->as != AS_TIME && r->member->as != AS_NUMBER)
		return;
	if (!str_u64(str_slice(text, negative, text.n),
		     negative ? INT64_MAX : UINT64_MAX, &v))
		return;
	if (r->member->as == AS_TIME)
		*(uint64_t *)to = v;
	else
		*(int64_t *)to = negative ? -(int64_t)v : (int64_t)v;
}

static void take_text(struct reader *r, const char *p, size_t n)
{
	if (r->member->as == AS_TEXT)
		*(struct str *)((char *)&r->event + r->member->offset) =
			keep_text(r, p, n);
}

static void add_leaf(struct reader *r, const char *p, size_t n, bool number)
{
	struct trace_event *e = &r->event;

	if (e->n == TRACE_LEAVES_MAX)
		return;
	e->leaf[e->n++] =
		(struct trace_leaf){keep_text(r, r->arg_key, r->arg_key_n),
				    keep_text(r, p, n), number};
}

/* --- parsing -------------------------------------------------------------- */

static int on_scalar(struct reader *r, const char *p, size_t n, bool number)
{
	switch (r->place) {
	case IN_RECORD:
		if (number)
			take_number(r, (struct str){p, n});
		else
			take_text(r, p, n);
		return 1;
	case IN_ARG:
		if (r->member->as == AS_NAME && !number && n < KEY_MAX) {
			memcpy(r->arg_key, p, n);
			r->arg_key_n = n;
		} else if (r->member->as == AS_VALUE) {
			add_leaf(r, p, n, number);
		}
		return 1;
	case IN_VALUE:
		add_leaf(r, p, n, number);
		return 1;
	case IN_NOTHING: /* a line that is no object */
		r->good = false;
		return 1;
	case IN_ARGS:
	case IN_REST:
		return 1;
	}
	return 1;
}

static int on_text(void *ctx, const unsigned char *p, size_t n)
{
	return on_scalar(ctx, (const char *)p, n, false);
}

static int on_number(void *ctx, const char *p, size_t n)
{
	return on_scalar(ctx, p, n, true);
}

static int on_bool(void *ctx, int yes)
{
	return on_scalar(ctx, yes ? "true" : "false", yes ? 4 : 5, true);
}

static int on_null(void *ctx)
{
	struct reader *r = ctx;
	bool ret = r->place == IN_RECORD &&
		   r->member->offset == offsetof(struct trace_event, ret);

	r->event.asked |= ret && r->member->as == AS_NUMBER;
	return 1;
}

/* Below a value, names lie behind each other: "remote_addr.sin_addr". */
static void extend_key(struct reader *r, const unsigned char *p, size_t n)
{
	size_t at = r->prefix_n[r->depth - 1];

	if (at + 1 + n >= KEY_MAX)
		return;
	r->arg_key[at] = '.';
	memcpy(r->arg_key + at + 1, p, n);
	r->arg_key_n = at + 1 + n;
}

static int on_key(void *ctx, const unsigned char *p, size_t n)
{
	struct reader *r = ctx;

	switch (r->place) {
	case IN_RECORD:
		r->member = find_member(of_record, ARRAY_LEN(of_record), p, n);
		return 1;
	case IN_ARG:
		r->member = find_member(of_arg, ARRAY_LEN(of_arg), p, n);
		return 1;
	case IN_VALUE:
		extend_key(r, p, n);
		return 1;
	case IN_NOTHING:
	case IN_ARGS:
	case IN_REST:
		return 1;
	}
	return 1;
}

/* An object or a list begins. */
static int open_any(struct reader *r, bool is_map)
{
	if (++r->depth > DEPTH)
		return 0;
	r->prefix_n[r->depth - 1] = r->arg_key_n;
	switch (r->place) {
	case IN_NOTHING:
		r->place = IN_RECORD;
		r->good = is_map;
		return 1;
	case IN_RECORD:
		if (r->member->as == AS_ARGS && !is_map) {
			r->place = IN_ARGS;
		} else {
			r->place = IN_REST;
			r->rest_depth = r->depth;
		}
		return 1;
	case IN_ARGS:
		r->place = IN_ARG;
		r->arg_key_n = 0;
		return 1;
	case IN_ARG:
		r->place = IN_VALUE;
		r->value_depth = r->depth;
		return 1;
	case IN_VALUE:
	case IN_REST:
		return 1;
	}
	return 1;
}

static int close_any(struct reader *r)
{
	int depth = r->depth--;

	r->arg_key_n = r->prefix_n[depth - 1];
	switch (r->place) {
	case IN_RECORD:
		r->place = IN_NOTHING;
		return 1;
	case IN_ARGS:
		r->place = IN_RECORD;
		return 1;
	case IN_ARG:
		r->place = IN_ARGS;
		return 1;
	case IN_VALUE:
		if (depth == r->value_depth)
			r->place = IN_ARG;
		return 1;
	case IN_REST:
		if (depth == r->rest_depth)
			r->place = IN_RECORD;
		return 1;
	case IN_NOTHING:
		return 1;
	}
	return 1;
}

static int on_map(void *ctx)
{
	return open_any(ctx, true);
}

static int on_list(void *ctx)
{
	return open_any(ctx, false);
}

static int on_end(void *ctx)
{
	return close_any(ctx);
}

static const yajl_callbacks callbacks = {
	.yajl_null = on_null,
	.yajl_boolean = on_bool,
	.yajl_number = on_number,
	.yajl_string = on_text,
	.yajl_start_map = on_map,
	.yajl_map_key = on_key,
	.yajl_end_map = on_end,
	.yajl_start_array = on_list,
	.yajl_end_array = on_end,
};

/* --- lines ---------------------------------------------------------------- */

static int new_parser(struct reader *r, struct err *err)
{
	if (r->json)
		yajl_free(r->json);
	r->json = yajl_alloc(&callbacks, NULL, r);
	if (!r->json)
		return err_set(err, -ENOMEM, "no memory");
	yajl_config(r->json, yajl_allow_multiple_values, 1);
	yajl_config(r->json, yajl_dont_validate_strings, 1);
	return 0;
}

static void reset_reader(struct reader *r, struct str line)
{
	struct trace_event *e = &r->event;

	e->line = line;
	e->at_ns = 0;
	e->pid = e->tid = e->ppid = e->uid = e->ret = 0;
	e->host_pid = e->host_ppid = 0;
	e->asked = false;
	e->name = e->comm = e->container = e->syscall = (struct str){0};
	e->n = 0;
	r->place = IN_NOTHING;
	r->member = &of_no_interest;
	r->depth = 0;
	r->arg_key_n = r->used = 0;
	r->good = false;
}

static bool is_record(struct reader *r, struct str line)
{
	static const unsigned char end[] = "\n";
	yajl_status status;

	reset_reader(r, line);
	status = yajl_parse(r->json, (const unsigned char *)line.p, line.n);
	if (status == yajl_status_ok)
		status = yajl_parse(r->json, end, 1);
	return status == yajl_status_ok && r->good && r->place == IN_NOTHING &&
	       r->event.name.n;
}

static void count_bad(struct reader *r)
{
	if (r->counts.bad++ == 0)
		r->counts.first_bad = r->lines;
}

static int parse_record(struct reader *r, struct str line, struct err *err)
{
	if (is_record(r, line)) {
		r->counts.records++;
		return 1;
	}
	count_bad(r);
	/* One that was cut in the middle would go on with the next line. */
	return new_parser(r, err);
}

/* What is left of a line has no end. */
static void pass_damage(struct reader *r)
{
	r->counts.damaged++;
	r->beg = r->end;
	r->skipping = false; /* membrane's own members begin with a line */
}

static int fill_more(struct reader *r, struct err *err)
{
	int n;

	if (r->beg > 0) {
		memmove(r->buf, r->buf + r->beg, r->end - r->beg);
		r->end -= r->beg;
		r->beg = 0;
	}
	if (r->end >= READER_LINE_MAX) {
		r->end = 0;
		r->lines++;
		count_bad(r);
		r->skipping = true;
	}
	n = input_read(r->in, r->buf + r->end,
		       (unsigned)(sizeof(r->buf) - r->end), err);
	if (n > 0) {
		r->end += (size_t)n;
		r->counts.bytes += (size_t)n;
	}
	return n;
}

/* More bytes behind those that are there: 1. 0: none. */
static int fill_record(struct reader *r, struct err *err)
{
	int rc = fill_more(r, err);

	if (rc == -EBADMSG) {
		pass_damage(r);
		return 1;
	}
	return rc;
}

/* Nothing ends the last line of some who write JSON lines. */
static int last_line(struct reader *r, const struct trace_event **out,
		     struct err *err)
{
	struct str rest = {r->buf + r->beg, r->end - r->beg};
	struct str line = str_trim(rest);

	r->counts.cut = input_is_cut(r->in) || (line.n && !r->skipping);
	if (r->skipping || rest.n == r->tried || !str_ends(line, STR("}")))
		return 0;
	r->tried = rest.n;
	if (!is_record(r, line))
		return new_parser(r, err);
	r->counts.records++;
	r->counts.cut = input_is_cut(r->in);
	r->beg = r->end;
	r->tried = 0;
	*out = &r->event;
	return 1;
}

int reader_next(struct reader *r, const struct trace_event **out,
		struct err *err)
{
	for (;;) {
		struct str rest = {r->buf + r->beg, r->end - r->beg}, line;
		size_t n = str_find(rest, '\n', 0);
		int rc;

		if (n == rest.n) {
			rc = fill_record(r, err);
			if (rc > 0)
				continue;
			return rc < 0 ? rc : last_line(r, out, err);
		}
		line = str_slice(rest, 0, n);
		r->beg += n + 1;
		r->tried = 0;
		if (r->skipping) {
			r->skipping = false;
			continue;
		}
		r->lines++;
		if (str_trim(line).n == 0)
			continue;
		rc = parse_record(r, line, err);
		if (rc < 0)
			return rc;
		if (rc > 0) {
			*out = &r->event;
			return 1;
		}
	}
}

int reader_open(const char *path, struct reader **out, struct err *err)
{
	struct reader *r = calloc(1, sizeof(*r));
	int rc;

	if (!r)
		return err_set(err, -ENOMEM, "no memory");
	rc = input_open(path, &r->in, err);
	if (rc == 0)
		rc = new_parser(r, err);
	if (rc < 0) {
		reader_close(r);
		return rc;
	}
	*out = r;
	return 0;
}

void reader_close(struct reader *r)
{
	if (!r)
		return;
	if (r->json)
		yajl_free(r->json);
	input_close(r->in);
	free(r);
}

const struct reader_counts *reader_counts(const struct reader *r)
{
	return &r->counts;
}
