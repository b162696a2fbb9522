/*
 * The report of a session, from whatever it left: decisions, changes, its trace,
 * the words of its command and of its end, divided by bytes of 0xff. The page is
 * within its bound, has the elements and attributes of html.def alone, closed in
 * order, and what stands between them is text: so nothing of a record is markup.
 */
#include "compiler/cli/frame/options.h"
#include "compiler/cli/page/html.h"
#include "compiler/cli/report/report.h"

#include <cjson/cJSON.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SESSION "1f3c0a9b8d7e"

static const char *const tags[] = {
#define TAG(id, name, kind) name,
#define ATTR(id, name)
#include "compiler/cli/page/html.def"
#undef TAG
#undef ATTR
};
static const char *const attrs[] = {
#define TAG(id, name, kind)
#define ATTR(id, name) name,
#include "compiler/cli/page/html.def"
#undef TAG
#undef ATTR
};

static void must(bool ok)
{
	if (!ok)
		abort();
}

/* --- the page ------------------------------------------------------------- */

static size_t known(const char *p, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strncmp(p, list[i], strlen(list[i])) == 0 &&
		    strchr(" >=", p[strlen(list[i])]))
			return strlen(list[i]);
	abort();
}

/* Up to one of these bytes, of which none is in what was foreign. */
static const char *check_text(const char *p, const char *ends)
{
	static const char *const entities[] = {"&amp;", "&lt;",  "&gt;",
					       "&quot;", "&#39;", "&#96;"};

	for (; *p && !strchr(ends, *p); p++) {
		bool is_entity = false;

		must((unsigned char)*p >= ' ' || *p == '\n');
		must(*p != '>' && *p != '<' && *p != '"' && *p != '\'' &&
		     *p != '`');
		for (size_t i = 0; *p == '&' && i < ARRAY_LEN(entities); i++)
			is_entity |= strncmp(p, entities[i],
					     strlen(entities[i])) == 0;
		must(*p != '&' || is_entity);
	}
	must(*p);
	return p;
}

static const char *check_tag(const char *p, char open[HTML_DEPTH][16],
			     unsigned *depth)
{
	bool ends = *p == '/';
	size_t n;

	p += ends;
	n = known(p, tags, ARRAY_LEN(tags));
	if (ends) {
		must(*depth > 0 && p[n] == '>' &&
		     strlen(open[--*depth]) == n &&
		     strncmp(open[*depth], p, n) == 0);
		return p + n + 1;
	}
	must(*depth < HTML_DEPTH);
	snprintf(open[(*depth)++], 16, "%.*s", (int)n, p);
	for (p += n; *p == ' '; p++) {
		p += 1 + known(p + 1, attrs, ARRAY_LEN(attrs));
		must(p[0] == '=' && p[1] == '"');
		p = check_text(p + 2, "\"");
	}
	must(*p == '>');
	return p + 1;
}

static void check_page(struct str page)
{
	const char *p = page.p, *title = strstr(p, "<title>");
	char open[HTML_DEPTH][16];
	unsigned depth = 0;

	must(page.n < REPORT_BYTES_MAX && strlen(p) == page.n && title);
	p = check_text(title + strlen("<title>"), "<");
	must(strncmp(p, "</title>\n<style>", 16) == 0);
	/* a constant, without a '<' */
	p = strchr(p + 16, '<');
	must(p && strncmp(p, "</style>\n</head>\n<body>\n<main>", 30) == 0);
	p = strstr(p, "<main>");
	do {
		must(*p == '<');
		p = check_tag(p + 1, open, &depth);
		if (depth)
			p = check_text(p, "<");
	} while (depth);
	must(strcmp(p, "\n</body>\n</html>\n") == 0);
}

/* --- the session ---------------------------------------------------------- */

#define TOP "/tmp/membrane-fuzz-report-XXXXXX"
static char top[] = TOP;

static void remove_folders(void)
{
	static const char *const names[] = {
		"sessions/" SESSION "/decisions.jsonl",
		"sessions/" SESSION "/changes.jsonl",
		"sessions/" SESSION "/session.json",
		"sessions/" SESSION "/summary.json",
		"trace/" SESSION ".jsonl",
		"sessions/" SESSION,
		"sessions",
		"trace",
	};
	char path[128];

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", top, names[i]);
		if (unlink(path) != 0)
			rmdir(path);
	}
	rmdir(top);
}

static void make_folders(void)
{
	static const char *const names[] = {"sessions", "sessions/" SESSION,
					    "trace"};
	char path[128];

	memcpy(top, TOP, sizeof(top));
	must(mkdtemp(top) != NULL);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", top, names[i]);
		must(mkdir(path, 0700) == 0);
	}
}

static void write_part(const char *name, struct str text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", top, name);
	f = fopen(path, "w");
	must(f && fwrite(text.p, 1, text.n, f) == text.n && fclose(f) == 0);
}

static void write_json(const char *name, cJSON *o)
{
	char *text = cJSON_PrintUnformatted(o);

	must(text != NULL);
	write_part(name, str_of(text));
	cJSON_free(text);
	cJSON_Delete(o);
}

static void write_about(struct arena *a, struct str words, struct str end)
{
	cJSON *o = cJSON_CreateObject(), *list, *e = cJSON_CreateObject();

	cJSON_AddNumberToObject(o, "version", 1);
	cJSON_AddStringToObject(o, "session", SESSION);
	cJSON_AddStringToObject(o, "started", "2026-01-31T12:00:00Z");
	/* whose git is not looked at: it is nowhere */
	cJSON_AddStringToObject(o, "workspace", "/nowhere/<b>");
	list = cJSON_AddArrayToObject(o, "command");
	cJSON_AddItemToArray(list, cJSON_CreateString(arena_cstr(a, words)));
	write_json("sessions/" SESSION "/session.json", o);
	cJSON_AddNumberToObject(e, "status", 7);
	cJSON_AddStringToObject(e, "ended", "2026-01-31T12:00:09Z");
	cJSON_AddStringToObject(e, "error", arena_cstr(a, end));
	write_json("sessions/" SESSION "/summary.json", e);
}

/* Without what is said of damage: there is much of that. */
static int quiet_page(struct arena *a, struct str *page)
{
	struct options o = {0};
	struct err damage;
	int said = dup(STDERR_FILENO), nobody = open("/dev/null", O_WRONLY);
	int status;

	must(said >= 0 && (getenv("VERBOSE") || dup2(nobody, STDERR_FILENO) >= 0));
	status = report_page(a, &o, top, STR(SESSION), page, &damage);
	dup2(said, STDERR_FILENO);
	close(said);
	close(nobody);
	return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str rest = {(const char *)data, size}, part[5] = {{0}}, page;
	struct arena *a = arena_new();

	make_folders();
	for (size_t i = 0; i < ARRAY_LEN(part); i++)
		(void)str_field(&rest, (char)0xff, &part[i]);
	write_part("sessions/" SESSION "/decisions.jsonl", part[0]);
	write_part("trace/" SESSION ".jsonl", part[1]);
	write_part("sessions/" SESSION "/changes.jsonl", part[2]);
	write_about(a, part[3], part[4]);
	if (quiet_page(a, &page) == 0)
		check_page(page);
	remove_folders();
	arena_free(a);
	return 0;
}
