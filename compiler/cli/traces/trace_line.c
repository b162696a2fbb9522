#include "compiler/cli/traces/trace_line.h"

#include "compiler/cli/text/view.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WORDS_SHOWN   64u
#define WORD_BYTES    400u /* of one; scripts are words, too */
#define COMMAND_BYTES 2000u
#define ANSWERS_SHOWN 6u

const char *trace_clock(uint64_t at_ns, char buf[TRACE_CLOCK_MAX])
{
	time_t s = (time_t)(at_ns / 1000000000u);
	struct tm tm;

	gmtime_r(&s, &tm);
	snprintf(buf, TRACE_CLOCK_MAX, "%02u:%02u:%02u.%03u",
		 (unsigned)tm.tm_hour % 100, (unsigned)tm.tm_min % 100,
		 (unsigned)tm.tm_sec % 100,
		 (unsigned)(at_ns / 1000000u % 1000u));
	return buf;
}

/* --- programs ------------------------------------------------------------- */

static bool is_plain(struct str word)
{
	for (size_t i = 0; i < word.n; i++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-",
			    word.p[i]) ||
		    word.p[i] == '\0')
			return false;
	return word.n > 0;
}

/* No more than n bytes, and no half of a character. */
static struct str first_of(struct str s, size_t n)
{
	while (n && ((unsigned char)s.p[n] & 0xc0) == 0x80)
		n--;
	return str_slice(s, 0, n);
}

/* Something in it will be shown as "\xNN", which is no part of '…'. */
static bool has_unseen(struct arena *a, struct str word)
{
	bool beyond_ascii = false;

	for (size_t i = 0; i < word.n; i++) {
		if ((unsigned char)word.p[i] < ' ' || word.p[i] == 0x7f)
			return true;
		beyond_ascii |= (unsigned char)word.p[i] >= 0x80;
	}
	return beyond_ascii && !str_eq(view_cleaned(a, word), word);
}

/* As in $'…', where view_clean() may write "\x1b" of what is left. */
static void put_escaped(struct buf *out, struct str word)
{
	static const char from[] = "\n\t\r\\'", to[] = "ntr\\'";
	const char *at;

	for (size_t i = 0; i < word.n; i++) {
		at = word.p[i] ? strchr(from, word.p[i]) : NULL;
		if (at)
			buf_addc(out, '\\');
		buf_addc(out, at ? to[at - from] : word.p[i]);
	}
}

static void put_quoted(struct buf *out, struct str word)
{
	for (size_t i = 0; i < word.n; i++) {
		if (word.p[i] == '\'')
			buf_adds(out, "'\\'");
		buf_addc(out, word.p[i]);
	}
}

/* As a shell would read it. */
static void put_word(struct buf *out, struct str word)
{
	bool is_cut = word.n > WORD_BYTES;

	if (is_cut)
		word = first_of(word, WORD_BYTES);
	if (is_plain(word) && !is_cut) {
		buf_add(out, word);
		return;
	}
	if (has_unseen(out->a, word)) {
		buf_adds(out, "$'");
		put_escaped(out, word);
	} else {
		buf_addc(out, '\'');
		put_quoted(out, word);
	}
	buf_adds(out, is_cut ? "'…" : "'");
}

static struct str base_of(struct str path)
{
	size_t dir = str_parent(path).n;

	path = str_slice(path, dir, path.n);
	return str_slice(path, str_starts(path, STR("/")), path.n);
}

/* The program has one of the names that it was started by. */
static bool is_named(const struct trace_event *e, struct str argv0)
{
	static const char *const names[] = {"cmdpath", "pathname", "interp"};
	bool any = false;

	argv0 = base_of(argv0);
	argv0 = str_slice(argv0, str_starts(argv0, STR("-")), argv0.n);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct str name = trace_arg(e, names[i]);

		any |= name.n > 0;
		if (str_eq(base_of(name), argv0))
			return true;
	}
	return !any;
}

struct str trace_command(struct arena *a, const struct trace_event *e)
{
	struct str argv0 = trace_arg(e, "argv");
	struct buf b;
	unsigned n = 0;

	buf_init(&b, a);
	for (uint32_t i = 0; i < e->n; i++) {
		if (!str_is(e->leaf[i].key, "argv"))
			continue;
		if (n++ == WORDS_SHOWN || b.n > COMMAND_BYTES) {
			buf_adds(&b, " …");
			break;
		}
		if (b.n)
			buf_addc(&b, ' ');
		put_word(&b, e->leaf[i].text);
	}
	if (b.n == 0) {
		buf_add(&b, trace_object(e).path);
	} else if (!is_named(e, argv0)) {
		/* A program may call itself whatever it likes. */
		buf_adds(&b, " (it is ");
		put_word(&b, trace_object(e).path);
		buf_addc(&b, ')');
	}
	return buf_str(&b);
}

/* --- files ---------------------------------------------------------------- */

static const char *how_opened(const struct trace_event *e)
{
	int64_t flags = trace_number(e, "flags", 0);

	/* That it did not exist before is only sure with O_EXCL. */
	if ((flags & O_CREAT) && (flags & O_EXCL))
		return "create";
	return (flags & O_ACCMODE) == O_RDONLY && !(flags & (O_CREAT | O_TRUNC))
		       ? "read"
		       : "write";
}

static const struct {
	const char *event, *what, *to; /* to: the argument of a second path */
} files[] = {
	{"security_inode_unlink", "delete", NULL},
	{"unlink", "delete", NULL},
	{"unlinkat", "delete", NULL},
	{"rmdir", "delete", NULL},
	{"security_inode_rename", "rename", "new_path"},
	{"rename", "rename", "newpath"},
	{"renameat", "rename", "newpath"},
	{"renameat2", "rename", "newpath"},
	{"link", "link", "newpath"},
	{"linkat", "link", "newpath"},
	{"security_inode_symlink", "symlink", "target"},
	{"mkdir", "create", NULL},
	{"mkdirat", "create", NULL},
	{"mknod", "create", NULL},
	{"mknodat", "create", NULL},
	{"security_inode_mknod", "create", NULL},
	{"chmod", "mode", NULL},
	{"fchmod", "mode", NULL},
	{"fchmodat", "mode", NULL},
	{"chown", "owner", NULL},
	{"lchown", "owner", NULL},
	{"fchown", "owner", NULL},
	{"fchownat", "owner", NULL},
	{"truncate", "write", NULL},
	{"ftruncate", "write", NULL},
};

static void file_line(struct arena *a, const struct trace_event *e,
		      struct trace_line *out, struct buf *text)
{
	struct str path = trace_object(e).path;

	out->what = how_opened(e);
	view_clean(text, path);
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		if (!str_is(e->name, files[i].event))
			continue;
		out->what = files[i].what;
		if (files[i].to) {
			buf_adds(text, " → ");
			view_clean(text, trace_arg(e, files[i].to));
		}
	}
	out->folder = arena_str(a, str_parent(path));
}

/* --- what most programs do -------------------------------------------------
 */

static bool is_library(struct str path)
{
	size_t so = 0;

	if (!str_starts(path, STR("/lib")) &&
	    !str_starts(path, STR("/usr/lib")))
		return false;
	path = base_of(path);
	while (so + 3 <= path.n &&
	       !str_starts(str_slice(path, so, path.n), STR(".so")))
		so++;
	return so + 3 == path.n || (so + 3 < path.n && path.p[so + 3] == '.');
}

/* What the C library reads for a language, a zone, a program's start. */
static bool is_of_libc(struct str path)
{
	static const char *const folders[] = {
		"/usr/lib/locale/",
		"/usr/share/locale/",
		"/usr/share/locale-langpack/",
		"/usr/share/zoneinfo/",
		"/usr/share/i18n/",
	};

	for (size_t i = 0; i < ARRAY_LEN(folders); i++)
		if (str_starts(path, str_of(folders[i])))
			return true;
	return str_is(path, "/etc/ld.so.cache") ||
	       str_is(path, "/etc/localtime") ||
	       str_is(path, "/etc/locale.alias") ||
	       str_ends(path, STR("/gconv/gconv-modules.cache"));
}

/* Of nscd there is none where an agent is; a user's trace does not know how its
 * connections end. */
static bool is_noise(const struct trace_event *e, enum trace_kind kind,
		     const char *what)
{
	struct trace_object o = trace_object(e);

	if (kind == TRACE_CONNECT)
		return (e->asked || e->ret == -ENOENT) &&
		       (str_is(o.addr, "/run/nscd/socket") ||
			str_is(o.addr, "/var/run/nscd/socket"));
	return kind == TRACE_FILE && e->ret >= 0 && strcmp(what, "read") == 0 &&
	       (is_library(o.path) || is_of_libc(o.path));
}

/* --- the network ---------------------------------------------------------- */

/* What goes to nobody by name, goes to whom the socket is connected to. */
static void put_unnamed(struct buf *text, const struct trace_event *e)
{
	static const char *const families[] = {"remote_addr.sa_family",
					       "local_addr.sa_family",
					       "dest_addr.sa_family"};
	struct str family = {0};

	for (size_t i = 0; i < ARRAY_LEN(families) && family.n == 0; i++)
		family = trace_arg(e, families[i]);
	if (family.n)
		view_clean(text, family);
	else if (trace_kind(e) == TRACE_SEND)
		buf_adds(text, "(as connected)");
}

static void put_address(struct buf *text, const struct trace_event *e)
{
	struct trace_object o = trace_object(e);
	bool v6 = str_find(o.addr, ':', 0) < o.addr.n && o.port;

	if (o.name.n)
		view_clean(text, o.name);
	if (o.name.n && o.addr.n)
		buf_addc(text, ' ');
	if (v6)
		buf_addc(text, '[');
	view_clean(text, o.addr);
	if (v6)
		buf_addc(text, ']');
	if (o.port)
		buf_addf(text, ":%u", o.port);
	if (o.addr.n == 0 && o.name.n == 0)
		put_unnamed(text, e);
}

/* "example.com AAAA" */
static void put_question(struct buf *text, const struct trace_event *e)
{
	static const char *const types[] = {
		"dns_questions.query_type",
		"dns_response.query_data.query_type",
		"proto_dns.questions.type",
	};
	struct str type = {0};

	for (size_t i = 0; i < ARRAY_LEN(types) && type.n == 0; i++)
		type = trace_arg(e, types[i]);
	view_clean(text, trace_object(e).name);
	if (type.n)
		buf_addc(text, ' ');
	view_clean(text, type);
}

static void put_one_address(struct buf *out, struct str addr)
{
	buf_addc(out, ' ');
	buf_add(out, addr);
	buf_addc(out, ' ');
}

/* The other end, or of an answer each address that it gave. */
static struct str addresses_of(struct arena *a, const struct trace_event *e,
			       enum trace_kind kind)
{
	struct str addr = trace_object(e).addr;
	struct buf b;

	buf_init(&b, a);
	if (trace_is_answer(e)) {
		for (uint32_t i = 0; i < e->n; i++)
			if (str_is(e->leaf[i].key,
				   "dns_response.dns_answer.answer"))
				put_one_address(&b, e->leaf[i].text);
		return buf_str(&b);
	}
	if (kind == TRACE_DNS && addr.n == 0)
		addr = trace_arg(e, "metadata.dst_ip");
	if (addr.n)
		put_one_address(&b, addr);
	return buf_str(&b);
}

/* "example.com A → 192.0.2.1, 192.0.2.2", or why there is nothing. */
static void put_answer(struct buf *text, const struct trace_event *e)
{
	struct str code = trace_arg(e, "dns_response.response_code");
	struct str refused = trace_arg(e, "dns_response.refused");
	unsigned n = 0;

	put_question(text, e);
	buf_adds(text, " → ");
	for (uint32_t i = 0; i < e->n; i++) {
		if (!str_is(e->leaf[i].key, "dns_response.dns_answer.answer"))
			continue;
		if (n == ANSWERS_SHOWN)
			buf_adds(text, ", …");
		if (n++ >= ANSWERS_SHOWN)
			continue;
		if (n > 1)
			buf_adds(text, ", ");
		view_clean(text, e->leaf[i].text);
	}
	if (n)
		return;
	/* Tracee leaves the code out. */
	view_clean(text,
		   code.n && !str_is(code, "NOERROR") ? code : STR("nothing"));
	if (refused.n) {
		buf_adds(text, " (");
		view_clean(text, refused);
		buf_addc(text, ')');
	}
}

static void question_line(struct arena *a, const struct trace_event *e,
			  struct trace_line *out, struct buf *text)
{
	struct buf b;

	if (!trace_is_answer(e) && trace_object(e).name.n == 0) {
		put_address(text, e);
		return;
	}
	buf_init(&b, a);
	put_question(&b, e);
	out->question = buf_str(&b);
	out->addresses = addresses_of(a, e, TRACE_DNS);
	trace_is_answer(e) ? put_answer(text, e) : put_question(text, e);
}

/* uapi/linux/capability.h, by number. */
static const char *const capabilities[] = {
	"CHOWN",
	"DAC_OVERRIDE",
	"DAC_READ_SEARCH",
	"FOWNER",
	"FSETID",
	"KILL",
	"SETGID",
	"SETUID",
	"SETPCAP",
	"LINUX_IMMUTABLE",
	"NET_BIND_SERVICE",
	"NET_BROADCAST",
	"NET_ADMIN",
	"NET_RAW",
	"IPC_LOCK",
	"IPC_OWNER",
	"SYS_MODULE",
	"SYS_RAWIO",
	"SYS_CHROOT",
	"SYS_PTRACE",
	"SYS_PACCT",
	"SYS_ADMIN",
	"SYS_BOOT",
	"SYS_NICE",
	"SYS_RESOURCE",
	"SYS_TIME",
	"SYS_TTY_CONFIG",
	"MKNOD",
	"LEASE",
	"AUDIT_WRITE",
	"AUDIT_CONTROL",
	"SETFCAP",
	"MAC_OVERRIDE",
	"MAC_ADMIN",
	"SYSLOG",
	"WAKE_ALARM",
	"BLOCK_SUSPEND",
	"AUDIT_READ",
	"PERFMON",
	"BPF",
	"CHECKPOINT_RESTORE",
};

/* "CAP_SYS_ADMIN in mount"; Tracee may say the name itself. */
static void capability_line(const struct trace_event *e, struct buf *text)
{
	int64_t n = trace_number(e, "cap", -1);

	if (n >= 0 && n < (int64_t)ARRAY_LEN(capabilities))
		buf_addf(text, "CAP_%s", capabilities[n]);
	else
		view_clean(text, trace_arg(e, "cap"));
	if (e->syscall.n) {
		buf_adds(text, " in ");
		view_clean(text, e->syscall);
	}
}

static void attempt_line(const struct trace_event *e, struct trace_line *out,
			 struct buf *text)
{
	struct str path = trace_object(e).path;

	out->what = "attempt";
	if (str_is(e->name, "cap_capable")) {
		capability_line(e, text);
		return;
	}
	view_clean(text, e->name);
	if (path.n) {
		buf_addc(text, ' ');
		view_clean(text, path);
	}
}

static void exit_line(const struct trace_event *e, struct trace_line *out,
		      struct buf *text)
{
	struct trace_exit x = trace_exit(e);

	out->what = "exit";
	if (x.signal)
		buf_addf(text, "by signal %lld", (long long)x.signal);
	else
		buf_addf(text, "%lld", (long long)x.code);
}

bool trace_line(struct arena *a, const struct trace_event *e,
		struct trace_line *out)
{
	enum trace_kind kind = trace_kind(e);
	struct buf text;

	*out = (struct trace_line){.what = trace_kind_name(kind)};
	buf_init(&text, a);
	switch (kind) {
	case TRACE_EXEC:
		view_clean(&text, trace_command(a, e));
		break;
	case TRACE_EXIT:
		/* Of a thread: the process goes on. */
		if (str_is(trace_arg(e, "process_group_exit"), "false"))
			return false;
		exit_line(e, out, &text);
		break;
	case TRACE_FILE:
		file_line(a, e, out, &text);
		break;
	case TRACE_LISTEN:
		if (str_ends(e->name, STR("bind")))
			out->what = "bind";
		if (str_ends(e->name, STR("accept")))
			out->what = "accept";
		put_address(&text, e);
		break;
	case TRACE_DNS:
		question_line(a, e, out, &text);
		break;
	case TRACE_CONNECT:
	case TRACE_SEND:
		put_address(&text, e);
		out->addresses = addresses_of(a, e, kind);
		break;
	case TRACE_ATTEMPT:
		attempt_line(e, out, &text);
		break;
	case TRACE_OTHER:
		out->what = "event";
		view_clean(&text, e->name);
		break;
	case TRACE_FORK:
	case TRACE_ITSELF:
	case TRACE_KINDS:
		return false;
	}
	out->text = buf_str(&text);
	out->is_noise = is_noise(e, kind, out->what);
	if (e->ret < 0 && e->ret > -4096 && e->ret != -EINPROGRESS)
		out->error = strerror((int)-e->ret);
	return true;
}
