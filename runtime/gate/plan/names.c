#include "runtime/gate/plan/names.h"

#include "compiler/base/portlist.h"
#include "compiler/plan/names_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum section {
	SECTION_START,
	SECTION_UPSTREAM,
	SECTION_FLOOR,
	SECTION_PRIVATE,
	SECTION_COVER,
	SECTION_PAST,
	SECTION_PORTS,
	SECTION_NAME,
	SECTION_ASK,
	SECTION_ASKNET,
	SECTION_DENY,
	SECTION_GUARD,
};

static const struct {
	const char *word;
	enum section section;
} records[] = {
	{NAMES_MAP_UPSTREAM, SECTION_UPSTREAM},
	{NAMES_MAP_FLOOR, SECTION_FLOOR},
	{NAMES_MAP_PRIVATE, SECTION_PRIVATE},
	{NAMES_MAP_COVER, SECTION_COVER},
	{NAMES_MAP_PAST, SECTION_PAST},
	{NAMES_MAP_PORTS, SECTION_PORTS},
	{NAMES_MAP_NAME, SECTION_NAME},
	{NAMES_MAP_ASK, SECTION_ASK},
	{NAMES_MAP_ASKNET, SECTION_ASKNET},
	{NAMES_MAP_DENY, SECTION_DENY},
	{NAMES_MAP_GUARD, SECTION_GUARD},
};

/* One field up to a blank; empty fields and trailing blanks do not parse. */
static bool take_field(struct str *rest, struct str *out)
{
	size_t end = str_find(*rest, ' ', 0);

	if (end == 0 || end + 1 == rest->n)
		return false;
	*out = str_slice(*rest, 0, end);
	*rest = str_slice(*rest, end + 1, rest->n);
	return true;
}

static bool parse_label(struct str l, bool first)
{
	if (str_is(l, "*") || (first && str_is(l, "**")))
		return true;
	if (l.n == 0 || l.n > LIMIT_LABEL_BYTES)
		return false;
	for (size_t i = 0; i < l.n; i++) {
		char c = l.p[i];

		if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
		      c == '-' || c == '_'))
			return false;
	}
	return true;
}

bool names_pattern(struct str name)
{
	bool first = true;
	size_t at = 0;

	if (name.n > LIMIT_NAME_BYTES)
		return false;
	while (at <= name.n) {
		size_t dot = str_find(name, '.', at);

		if (!parse_label(str_slice(name, at, dot), first))
			return false;
		first = false;
		at = dot + 1;
	}
	return true;
}

static bool take_pattern(struct str *rest, struct str *out)
{
	return take_field(rest, out) && names_pattern(*out);
}

/* In the order in which their classes are counted. */
enum kind {
	KIND_GRANT,
	KIND_HTTP,
	KIND_DENIAL,
	KIND_QUIC,
	KIND_ASK,
};
static const char *const letters[] = {"", NAMES_MAP_HTTP, NAMES_MAP_DENIAL,
				      NAMES_MAP_QUIC, NAMES_MAP_ASKED};

/* "12" or "h12", as one number; 0 when it is none. */
static unsigned class_of(struct str text, enum kind *out_kind)
{
	enum kind kind = KIND_GRANT;
	uint64_t k;

	for (size_t i = KIND_HTTP; i < ARRAY_LEN(letters); i++)
		if (str_starts(text, str_of(letters[i])))
			kind = (enum kind)i;
	*out_kind = kind;
	text = str_slice(text, strlen(letters[kind]), text.n);
	if (!str_u64(text, LIMIT_CLASSES, &k) || text.p[0] == '0')
		return 0;
	return (unsigned)kind * LIMIT_CLASSES + (unsigned)k;
}

/* Those of "h" are the grants': it says how they are used. */
static struct str ports_of(const struct names_map *map, unsigned class,
			   enum kind kind)
{
	return map->ports[class - 1 - (kind == KIND_HTTP ? LIMIT_CLASSES : 0)];
}

static void class_set(struct names_classes *c, unsigned k)
{
	c->w[(k - 1) / 64] |= UINT64_C(1) << ((k - 1) % 64);
}

static bool parse_ports(struct str rest, struct names_map *map)
{
	struct str text;
	enum kind kind;
	unsigned k;

	if (!take_field(&rest, &text))
		return false;
	k = class_of(text, &kind);
	if (k <= map->last_ports || kind == KIND_HTTP || !portlist_ok(rest))
		return false;
	map->ports[k - 1] = rest;
	map->last_ports = k;
	return true;
}

static bool parse_classes(const struct names_map *map, struct str text,
			  struct names_classes *out)
{
	unsigned last = 0;
	size_t at = 0;

	if (str_is(text, NAMES_MAP_NONE))
		return true;
	while (at <= text.n) {
		size_t comma = str_find(text, ',', at);
		enum kind kind;
		unsigned k = class_of(str_slice(text, at, comma), &kind);

		if (k <= last || (kind != KIND_GRANT && kind != KIND_HTTP) ||
		    ports_of(map, k, kind).n == 0)
			return false;
		class_set(out, k);
		last = k;
		at = comma + 1;
	}
	return true;
}

static bool parse_id(struct str id, char kind)
{
	if (id.n != 12 || id.p[0] != kind || id.p[1] != '-')
		return false;
	for (size_t i = 2; i < id.n; i++)
		if (!((id.p[i] >= '0' && id.p[i] <= '9') ||
		      (id.p[i] >= 'a' && id.p[i] <= 'f')))
			return false;
	return true;
}

static bool parse_name_line(const struct names_map *map, struct str rest,
			    struct names_line *out)
{
	struct str classes, flags;

	if (!take_pattern(&rest, &out->name) || !take_field(&rest, &classes) ||
	    !parse_classes(map, classes, &out->classes) ||
	    !take_field(&rest, &flags) || !parse_id(rest, 'g'))
		return false;
	out->id = rest;
	out->private_ok = str_is(flags, NAMES_MAP_PRIVATE);
	return out->private_ok || str_is(flags, NAMES_MAP_NONE);
}

static bool parse_deny_line(struct str rest, struct names_line *out)
{
	if (!take_pattern(&rest, &out->name) || !parse_id(rest, 'd'))
		return false;
	out->id = rest;
	return true;
}

static bool parse_guard_line(const struct names_map *map, struct str rest,
			     struct names_line *out)
{
	struct str class;
	enum kind kind;
	unsigned k;

	if (!take_pattern(&rest, &out->name) || !take_field(&rest, &class))
		return false;
	k = class_of(class, &kind);
	if (!k || (kind != KIND_DENIAL && kind != KIND_QUIC) ||
	    ports_of(map, k, kind).n == 0 || !parse_id(rest, 'd'))
		return false;
	class_set(&out->classes, k);
	return true;
}

/* "CLASS WAIT http|-", and what is behind it. */
static bool parse_asked(const struct names_map *map, struct str *rest,
			struct names_ask *out)
{
	struct str class, wait, http;
	enum kind kind;
	uint64_t wait_s;
	unsigned k;

	if (!take_field(rest, &class) || !take_field(rest, &wait) ||
	    !str_u64(wait, NAMES_MAP_WAIT_MAX, &wait_s) || wait_s == 0 ||
	    !take_field(rest, &http))
		return false;
	k = class_of(class, &kind);
	if (!k || kind != KIND_ASK || ports_of(map, k, kind).n == 0)
		return false;
	class_set(&out->line.classes, k);
	out->ports = ports_of(map, k, kind);
	out->wait_s = (uint32_t)wait_s;
	out->http = str_is(http, NAMES_MAP_REQUESTS);
	return out->http || str_is(http, NAMES_MAP_NONE);
}

static bool parse_ask_line(const struct names_map *map, struct str rest,
			   struct names_ask *out)
{
	struct str flags;

	if (!take_pattern(&rest, &out->line.name) ||
	    !parse_asked(map, &rest, out) || !take_field(&rest, &flags) ||
	    !parse_id(rest, 'a'))
		return false;
	out->line.id = rest;
	out->line.private_ok = str_is(flags, NAMES_MAP_PRIVATE);
	return out->line.private_ok || str_is(flags, NAMES_MAP_NONE);
}

static bool parse_asknet_line(const struct names_map *map, struct str rest,
			      struct names_ask *out)
{
	struct str net;

	if (!take_field(&rest, &net) || cidr_parse(net, &out->net) != CIDR_OK ||
	    str_find(net, '/', 0) == net.n || !parse_asked(map, &rest, out) ||
	    !parse_id(rest, 'a'))
		return false;
	out->line.id = rest;
	return true;
}

static bool parse_upstream(struct str rest, struct names_map *map)
{
	struct str kind, addr, whole = rest;
	uint64_t port;

	if (!take_field(&rest, &kind))
		return false;
	map->proxied = str_is(kind, NAMES_MAP_PROXY);
	if (map->proxied && rest.n == 0)
		return true;
	rest = map->proxied ? rest : whole;
	map->upstream_host = str_is(rest, NAMES_MAP_HOST);
	if (map->upstream_host)
		return true;
	if (!take_field(&rest, &kind) || !str_is(kind, NAMES_MAP_UDP) ||
	    !take_field(&rest, &addr) ||
	    !addr_parse(addr, &map->upstream_addr) ||
	    !str_u64(rest, UINT16_MAX, &port) || port == 0)
		return false;
	map->upstream_port = (uint16_t)port;
	return true;
}

static bool parse_net(struct str rest, struct names_nets *nets)
{
	if (cidr_parse(rest, &nets->v[nets->n]) != CIDR_OK ||
	    str_find(rest, '/', 0) == rest.n)
		return false;
	nets->n++;
	return true;
}

/* A name has no slash, and a network has one. */
static bool parse_past(struct str rest, struct names_map *map)
{
	if (!map->proxied)
		return false;
	if (str_find(rest, '/', 0) < rest.n)
		return parse_net(rest, &map->past);
	map->passing[map->n_passing++] = rest;
	return names_pattern(rest);
}

static bool parse_record(struct names_map *map, enum section section,
			 struct str rest)
{
	struct names_line line = {0};
	struct names_ask ask = {0};

	switch (section) {
	case SECTION_START:
		return false;
	case SECTION_UPSTREAM:
		return parse_upstream(rest, map);
	case SECTION_FLOOR:
		return parse_net(rest, &map->floor);
	case SECTION_PRIVATE:
		return parse_net(rest, &map->priv);
	case SECTION_COVER:
		return parse_net(rest, &map->cover);
	case SECTION_PAST:
		return parse_past(rest, map);
	case SECTION_PORTS:
		return parse_ports(rest, map);
	case SECTION_NAME:
		if (!parse_name_line(map, rest, &line))
			return false;
		if (memchr(line.name.p, '*', line.name.n))
			map->wild[map->n_wild++] = line;
		else
			map->exact[map->n_exact++] = line;
		return true;
	case SECTION_ASK:
	case SECTION_ASKNET:
		if (section == SECTION_ASK
			    ? !parse_ask_line(map, rest, &ask)
			    : !parse_asknet_line(map, rest, &ask))
			return false;
		map->ask[map->n_ask++] = ask;
		return true;
	case SECTION_DENY:
		if (!parse_deny_line(rest, &line))
			return false;
		map->deny[map->n_deny++] = line;
		return true;
	case SECTION_GUARD:
		if (!parse_guard_line(map, rest, &line))
			return false;
		map->guard[map->n_guard++] = line;
		return true;
	}
	return false;
}

static int parse_line(struct names_map *map, struct str line, enum section *at,
		      unsigned number, struct err *err)
{
	struct str word, rest = line;

	if (memchr(line.p, '\0', line.n) || !take_field(&rest, &word))
		return err_set(err, -EPROTO, "line %u: malformed", number);
	for (size_t i = 0; i < ARRAY_LEN(records); i++) {
		if (!str_is(word, records[i].word))
			continue;
		if (records[i].section < *at ||
		    (records[i].section == *at && *at == SECTION_UPSTREAM))
			return err_set(err, -EPROTO,
				       "line %u: '%s' out of order", number,
				       records[i].word);
		*at = records[i].section;
		if (!parse_record(map, *at, rest))
			return err_set(err, -EPROTO,
				       "line %u: malformed '%s' record", number,
				       records[i].word);
		return 0;
	}
	return err_set(err, -EPROTO, "line %u: unknown record", number);
}

static int parse_lines(struct names_map *map, struct str text, struct err *err)
{
	enum section at = SECTION_START;
	struct str line;
	unsigned number = 1;

	(void)str_line(&text, &line); /* there is one: a LF ends the text */
	if (!str_is(line, NAMES_MAP_HEAD))
		return err_set(err, -EPROTO, "unknown version");
	while (str_line(&text, &line)) {
		int rc = parse_line(map, line, &at, ++number, err);

		if (rc < 0)
			return rc;
		if (map->n_exact + map->n_wild + map->n_deny + map->n_guard +
			    map->n_ask >
		    LIMIT_GRANTS)
			return err_set(err, -EPROTO, "more than %u names",
				       LIMIT_GRANTS);
	}
	if (at < SECTION_UPSTREAM)
		return err_set(err, -EPROTO, "no upstream");
	if (map->proxied &&
	    (map->n_passing > 0) != (map->upstream_host || map->upstream_port))
		return err_set(
			err, -EPROTO,
			"a resolver for names that pass the proxy, or none of those");
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const struct names_line *x = a, *y = b;
	int c = str_cmp(x->name, y->name);

	return c ? c : str_cmp(x->id, y->id);
}

/* Every array gets room for one element per line: start-up memory only. */
static bool allocate_arrays(struct names_map *map, struct str text)
{
	size_t lines = 1;

	for (size_t i = 0; i < text.n; i++)
		lines += text.p[i] == '\n';
	map->text = malloc(text.n);
	map->floor.v = calloc(lines, sizeof(*map->floor.v));
	map->priv.v = calloc(lines, sizeof(*map->priv.v));
	map->cover.v = calloc(lines, sizeof(*map->cover.v));
	map->past.v = calloc(lines, sizeof(*map->past.v));
	map->passing = calloc(lines, sizeof(*map->passing));
	map->ports = calloc(NAMES_CLASSES_MAX, sizeof(*map->ports));
	map->exact = calloc(lines, sizeof(*map->exact));
	map->wild = calloc(lines, sizeof(*map->wild));
	map->deny = calloc(lines, sizeof(*map->deny));
	map->guard = calloc(lines, sizeof(*map->guard));
	map->ask = calloc(lines, sizeof(*map->ask));
	if (!map->text || !map->floor.v || !map->priv.v || !map->cover.v ||
	    !map->past.v || !map->passing || !map->ports || !map->exact ||
	    !map->wild || !map->deny || !map->guard || !map->ask)
		return false;
	memcpy(map->text, text.p, text.n);
	return true;
}

int names_parse(struct str text, struct names_map *out, struct err *err)
{
	struct names_map map = {0};
	int rc;

	if (text.n == 0 || text.n > LIMIT_PLAN_BYTES ||
	    text.p[text.n - 1] != '\n')
		return err_set(err, -EPROTO, "not whole lines");
	if (!allocate_arrays(&map, text)) {
		names_free(&map);
		return err_set(err, -ENOMEM, "out of memory");
	}
	rc = parse_lines(&map, (struct str){map.text, text.n}, err);
	if (rc < 0) {
		names_free(&map);
		return rc;
	}
	qsort(map.exact, map.n_exact, sizeof(*map.exact), by_name);
	*out = map;
	return 0;
}

void names_free(struct names_map *map)
{
	free(map->text);
	free(map->floor.v);
	free(map->priv.v);
	free(map->cover.v);
	free(map->past.v);
	free(map->passing);
	free(map->ports);
	free(map->exact);
	free(map->wild);
	free(map->deny);
	free(map->guard);
	free(map->ask);
	*map = (struct names_map){0};
}

/* The label before end, and where it begins. */
static struct str last_label(struct str s, size_t end, size_t *out_beg)
{
	size_t beg = end;

	while (beg > 0 && s.p[beg - 1] != '.')
		beg--;
	*out_beg = beg;
	return str_slice(s, beg, end);
}

/*
 * Labels compared from the right. What "**" meets at the left end must be one
 * or more labels, which any rest of a well-formed name is.
 */
bool names_pattern_has(struct str pattern, struct str name)
{
	size_t p_end = pattern.n, n_end = name.n;

	for (;;) {
		size_t p_beg, n_beg;
		struct str p = last_label(pattern, p_end, &p_beg);
		struct str n = last_label(name, n_end, &n_beg);

		if (str_is(p, "**"))
			return n_end > 0;
		if (n.n == 0 || (!str_is(p, "*") && !str_eq(p, n)))
			return false;
		if (p_beg == 0 || n_beg == 0)
			return p_beg == n_beg;
		p_end = p_beg - 1;
		n_end = n_beg - 1;
	}
}

static void match_classes(struct names_match *m, const struct names_line *line)
{
	for (size_t i = 0; i < NAMES_CLASS_WORDS; i++) {
		m->classes.w[i] |= line->classes.w[i];
		if (line->private_ok)
			m->classes_private.w[i] |= line->classes.w[i];
	}
	m->private_ok |= line->private_ok;
}

static void match_add(struct names_match *m, const struct names_line *line)
{
	match_classes(m, line);
	if (m->n_lines < NAMES_MATCH_MAX)
		m->lines[m->n_lines] = line;
	m->n_lines++;
}

/* Private or not: wherever an address is opened, the guard goes with it. */
static void match_guard(struct names_match *m, const struct names_classes *c)
{
	for (size_t i = 0; i < NAMES_CLASS_WORDS; i++) {
		m->classes.w[i] |= c->w[i];
		m->classes_private.w[i] |= c->w[i];
	}
}

bool names_by_proxy(const struct names_map *map, struct str name)
{
	for (uint32_t i = 0; i < map->n_passing; i++)
		if (names_pattern_has(map->passing[i], name))
			return false;
	return map->proxied;
}

/* Whatever opens an address says also which way it is gone to. */
void names_match_past(const struct names_map *map, struct str name,
		      struct names_match *m)
{
	m->past = map->proxied && !names_by_proxy(map, name);
	if (!m->past)
		return;
	class_set(&m->classes, NAMES_CLASS_PAST);
	class_set(&m->classes_private, NAMES_CLASS_PAST);
}

bool names_match(const struct names_map *map, struct str name,
		 struct names_match *out)
{
	uint32_t lo = 0, hi = map->n_exact;

	*out = (struct names_match){0};
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (str_cmp(map->exact[mid].name, name) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < map->n_exact && str_eq(map->exact[lo].name, name); lo++)
		match_add(out, &map->exact[lo]);
	for (uint32_t i = 0; i < map->n_wild; i++)
		if (names_pattern_has(map->wild[i].name, name))
			match_add(out, &map->wild[i]);
	for (uint32_t i = 0; i < map->n_ask; i++) {
		const struct names_ask *ask = &map->ask[i];

		if (!names_pattern_has(ask->line.name, name))
			continue;
		match_classes(out, &ask->line);
		out->ask = out->ask ? out->ask : ask;
	}
	for (uint32_t i = 0; (out->n_lines || out->ask) && i < map->n_guard;
	     i++)
		if (names_pattern_has(map->guard[i].name, name))
			match_guard(out, &map->guard[i].classes);
	if (out->n_lines)
		names_match_past(map, name, out);
	return out->n_lines > 0;
}

void names_only_asked(struct names_match *m)
{
	for (size_t i = 0; i < 2 * LIMIT_CLASSES / 64; i++)
		m->classes.w[i] = m->classes_private.w[i] = 0;
	m->n_lines = 0;
}

bool names_permits(const struct names_map *map, const struct names_line *line,
		   const char *proto, uint16_t port)
{
	for (unsigned k = names_class_next(&line->classes, 1);
	     k && k <= LIMIT_CLASSES;
	     k = names_class_next(&line->classes, k + 1))
		if (portlist_has(map->ports[k - 1], proto, port))
			return true;
	return false;
}

/* Of either kind of a grant's classes. */
static bool line_opens(const struct names_map *map,
		       const struct names_line *line, uint16_t port,
		       bool *out_http)
{
	if (names_permits(map, line, "tcp", port)) {
		*out_http = false;
		return true;
	}
	for (unsigned k = names_class_next(&line->classes, LIMIT_CLASSES + 1);
	     k && k <= 2 * LIMIT_CLASSES;
	     k = names_class_next(&line->classes, k + 1))
		if (portlist_has(ports_of(map, k, KIND_HTTP), "tcp", port)) {
			*out_http = true;
			return true;
		}
	return false;
}

bool names_opens(const struct names_map *map, struct str name, uint16_t port,
		 bool *out_http)
{
	struct names_match m;
	bool opens = false, http = false;

	(void)names_match(map, name, &m);
	for (uint32_t i = 0; i < m.n_lines && i < NAMES_MATCH_MAX; i++) {
		if (!line_opens(map, m.lines[i], port, &http))
			continue;
		*out_http = opens ? *out_http && http : http;
		opens = true;
	}
	return opens;
}

const struct names_ask *names_asked(const struct names_map *map,
				    struct str name, uint16_t port)
{
	for (uint32_t i = 0; i < map->n_ask; i++) {
		const struct names_ask *a = &map->ask[i];

		if (names_pattern_has(a->line.name, name) &&
		    portlist_has(a->ports, "tcp", port))
			return a;
	}
	return NULL;
}

/*
 * Could it lead there? The nets of '*' are all addresses, with the id of its
 * line for names; it leads to no other than public ones, and those a net of its
 * own may be about.
 */
static bool leads_to(const struct names_map *map, const struct names_ask *a,
		     const struct addr *addr)
{
	if (a->net.bits || addr_scope(addr) == ADDR_PUBLIC)
		return true;
	for (uint32_t i = 0; i < map->n_ask; i++)
		if (map->ask[i].line.name.n &&
		    str_eq(map->ask[i].line.id, a->line.id))
			return false;
	return true;
}

const struct names_ask *names_asked_addr(const struct names_map *map,
					 const struct addr *addr, uint16_t port)
{
	for (uint32_t i = 0; i < map->n_ask; i++) {
		const struct names_ask *a = &map->ask[i];

		if (!a->line.name.n && cidr_has(&a->net, addr) &&
		    portlist_has(a->ports, "tcp", port) &&
		    leads_to(map, a, addr))
			return a;
	}
	return NULL;
}

const struct names_ask *names_ask_of(const struct names_map *map, struct str id,
				     struct str name, const struct addr *addr)
{
	for (uint32_t i = 0; i < map->n_ask; i++) {
		const struct names_ask *a = &map->ask[i];

		if (str_eq(a->line.id, id) &&
		    (a->line.name.n ? names_pattern_has(a->line.name, name)
				    : cidr_has(&a->net, addr)))
			return a;
	}
	return NULL;
}

const struct names_line *names_denied(const struct names_map *map,
				      struct str name)
{
	for (uint32_t i = 0; i < map->n_deny; i++)
		if (names_pattern_has(map->deny[i].name, name))
			return &map->deny[i];
	return NULL;
}

bool names_nets_have(const struct names_nets *nets, const struct addr *a)
{
	for (uint32_t i = 0; i < nets->n; i++)
		if (cidr_has(&nets->v[i], a))
			return true;
	return false;
}

/* The longest of the networks that an address lies in, or -1. */
static int nets_bits(const struct names_nets *nets, const struct addr *a)
{
	int bits = -1;

	for (uint32_t i = 0; i < nets->n; i++)
		if (nets->v[i].bits > bits && cidr_has(&nets->v[i], a))
			bits = nets->v[i].bits;
	return bits;
}

bool names_covered(const struct names_map *map, const struct addr *addr)
{
	return names_nets_have(&map->cover, addr);
}

enum names_verdict names_judge(const struct names_map *map,
			       const struct names_match *match,
			       const struct names_hosts *hosts,
			       const struct addr *addr,
			       struct names_classes *out_classes)
{
	enum addr_scope scope = addr_scope(addr);
	int floor = nets_bits(&map->floor, addr);
	bool opened = floor >= 0 && nets_bits(&map->cover, addr) > floor;

	/* Whoever answers for a name is not to send the agent to 'host'; its
	 * own names have their answer from the gate. */
	if (addr_is_machine(addr))
		return NAMES_FLOOR;
	/* addr_scope() again: the map can add to it, never take from it. */
	if ((scope == ADDR_NEVER || floor >= 0) && !opened)
		return NAMES_FLOOR;
	for (uint32_t i = 0; i < hosts->n; i++)
		if (addr_eq(&hosts->v[i], addr))
			return NAMES_HOST;
	/* Whatever names say: its cidr grant has the ports. */
	if (opened)
		return NAMES_COVERED;
	if (scope == ADDR_PUBLIC && !names_nets_have(&map->priv, addr)) {
		*out_classes = match->classes;
		return NAMES_OPEN;
	}
	if (match->private_ok) {
		*out_classes = match->classes_private;
		return NAMES_OPEN;
	}
	return names_covered(map, addr) ? NAMES_COVERED : NAMES_PRIVATE;
}

bool names_hosts_add(struct names_hosts *hosts, const struct addr *addr)
{
	for (uint32_t i = 0; i < hosts->n; i++)
		if (addr_eq(&hosts->v[i], addr))
			return true;
	if (hosts->n == NAMES_HOSTS_MAX)
		return false;
	hosts->v[hosts->n++] = *addr;
	return true;
}

unsigned names_class_next(const struct names_classes *c, unsigned k)
{
	for (; k >= 1 && k <= NAMES_CLASSES_MAX; k++)
		if (names_class_has(c, k))
			return k;
	return 0;
}

bool names_class_has(const struct names_classes *c, unsigned k)
{
	return k >= 1 && k <= NAMES_CLASSES_MAX &&
	       (c->w[(k - 1) / 64] >> ((k - 1) % 64) & 1);
}
