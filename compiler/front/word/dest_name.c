/* Names and IPv4 addresses of a destination, out of their labels. */
#include "compiler/base/agent_link.h"
#include "compiler/base/ascii.h"
#include "compiler/base/limits.h"
#include "compiler/front/word/dest_parser.h"

#include <idn2.h>

void dest_label(struct dest_parser *p, enum dest_label_kind kind, struct str s,
		struct span part)
{
	*vec_push(p->c->a, &p->labels) = (struct dest_label){kind, s, part};
}

static size_t code_points(const uint8_t *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += (*s & 0xc0) != 0x80;
	return n;
}

/* A copy in the arena of what libidn2 allocated. */
static struct str adopt_idn(struct arena *a, void *s)
{
	struct str copy = s ? arena_str(a, str_of(s)) : STR("");

	idn2_free(s);
	return copy;
}

static bool idn_fail(struct dest_parser *p, struct span part, struct str label,
		     const char *why)
{
	dest_fail(p, DIAG_IDN, part, "'%s' is no name by IDNA 2008: %s",
		  dest_quote(p, label), why);
	return false;
}

/*
 * The A-label of a U-label or of an A-label. UTS 46 mapping is used for the
 * case alone: what maps to something that reads otherwise (full-width forms,
 * ligatures, soft hyphens) is refused and the mapped form shown.
 */
static bool idn_label(struct dest_parser *p, struct str label, struct span part,
		      struct str *out)
{
	const uint8_t *in = (const uint8_t *)arena_cstr(p->c->a, label);
	int flags = IDN2_NFC_INPUT;
	struct str ascii, plain, again;
	uint8_t *got = NULL;
	char *back = NULL;
	int rc = idn2_lookup_u8(in, &got, flags | IDN2_NONTRANSITIONAL);

	if (rc != IDN2_OK)
		return idn_fail(p, part, label, idn2_strerror(rc));
	ascii = adopt_idn(p->c->a, got);
	rc = idn2_to_unicode_8z8z(ascii.p, &back, 0);
	/* Unreached: libidn2 reads what it wrote itself. */
	if (rc != IDN2_OK)
		return idn_fail(p, part, label, idn2_strerror(rc));
	plain = adopt_idn(p->c->a, back);
	got = NULL;
	rc = idn2_lookup_u8((const uint8_t *)plain.p, &got,
			    flags | IDN2_NO_TR46);
	again = adopt_idn(p->c->a, got);
	if (rc != IDN2_OK)
		return idn_fail(p, part, label, idn2_strerror(rc));
	/* Unreached: no label is known that libidn2 encodes in two ways. */
	if (!str_eq(ascii, again))
		return idn_fail(p, part, label, "it has two encodings");
	if (!ascii_is(label) &&
	    (ascii_is(plain) ||
	     code_points(in) != code_points((const uint8_t *)plain.p))) {
		idn_fail(p, part, label, "characters that map to others");
		dest_help(p, "did you mean '%s'?", dest_quote(p, plain));
		return false;
	}
	*out = ascii;
	return true;
}

static bool label_shape(struct dest_parser *p, struct str s, struct span part)
{
	if (s.n > LIMIT_LABEL_BYTES) {
		dest_fail(p, DIAG_LABEL, part,
			  "a label of %zu bytes, where a name has at most %u",
			  s.n, LIMIT_LABEL_BYTES);
		return false;
	}
	if (s.p[0] == '-' || s.p[s.n - 1] == '-') {
		dest_fail(p, DIAG_LABEL, part,
			  "the label '%s' %s with a hyphen", dest_quote(p, s),
			  s.p[0] == '-' ? "begins" : "ends");
		dest_help(p, "no host has such a name (RFC 1123)");
		return false;
	}
	return true;
}

/* Most are in lower case already. */
static struct str lower_text(struct arena *a, struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (ascii_is_upper(s.p[i]))
			return ascii_lower(a, s);
	return s;
}

/* In the form that DNS has: lower case, A-label. Reports. */
static bool label_ascii(struct dest_parser *p, struct str label,
			struct span part, struct str *out)
{
	struct str s = lower_text(p->c->a, label);

	if (ascii_is(s) && !label_shape(p, s, part))
		return false;
	if (!ascii_is(s) || str_starts(s, STR("xn--"))) {
		if (!idn_label(p, s, part, &s) || !label_shape(p, s, part))
			return false;
		if (str_find(s, '.', 0) < s.n) {
			dest_fail(p, DIAG_IDN, part,
				  "'%s' holds a character that means a dot",
				  dest_quote(p, label));
			dest_help(p, "write '%s'", dest_quote(p, s));
			return false;
		}
	}
	*out = s;
	return true;
}

/* --- IPv4 ---------------------------------------------------------------- */

/* Of a label, which is not empty. */
static bool all_digits(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!ascii_is_digit(s.p[i]))
			return false;
	return true;
}

/* Would a resolver library take a name that ends so for an address? */
static bool ends_in_number(const struct dest_label *last)
{
	struct str s = last->s;

	if (s.n > 2 && s.p[0] == '0' && (s.p[1] == 'x' || s.p[1] == 'X')) {
		for (size_t i = 2; i < s.n; i++)
			if (ascii_hex(s.p[i]) < 0)
				return false;
		return true;
	}
	return all_digits(s);
}

/* "10.0.*.*" and the like: the network that was meant. */
static bool wildcard_network(struct dest_parser *p, struct span part)
{
	uint32_t n = p->labels.n, known = 0;
	struct buf net;

	while (known < n && all_digits(p->labels.v[known].s))
		known++;
	for (uint32_t i = known; i < n; i++)
		if (p->labels.v[i].kind == DEST_LABEL_TEXT)
			return false;
	if (known == 0 || known == n || n > 4)
		return false;
	buf_init(&net, p->c->a);
	for (uint32_t i = 0; i < 4; i++) {
		buf_adds(&net, i ? "." : "");
		buf_add(&net, i < known ? p->labels.v[i].s : STR("0"));
	}
	dest_fail(p, DIAG_IPV4, part, "a '*' in an address");
	dest_help(p, "write a network: '%s/%u'", dest_quote(p, buf_str(&net)),
		  known * 8);
	return true;
}

static bool parse_octet(struct dest_parser *p, const struct dest_label *l,
			uint8_t *out)
{
	uint64_t v;

	if (!all_digits(l->s)) {
		dest_fail(p, DIAG_IPV4, l->part,
			  "'%s' is no part of an IPv4 address",
			  dest_quote(p, l->s));
		dest_help(
			p,
			"four decimal numbers from 0 to 255, as in '192.0.2.1'; a name does not end in a number");
		return false;
	}
	if (l->s.n > 1 && l->s.p[0] == '0') {
		dest_fail(p, DIAG_IPV4, l->part, "a leading zero in '%s'",
			  dest_quote(p, l->s));
		dest_help(
			p,
			"some programs read it as octal; write it in decimal");
		return false;
	}
	if (!str_u64(l->s, 255, &v)) {
		dest_fail(p, DIAG_IPV4, l->part, "'%s' is more than 255",
			  dest_quote(p, l->s));
		return false;
	}
	*out = (uint8_t)v;
	return true;
}

static bool parse_addr4(struct dest_parser *p, struct span part,
			struct addr *out)
{
	struct addr a = {.family = ADDR_V4};

	for (uint32_t i = 0; i < p->labels.n && i < 4; i++)
		if (!parse_octet(p, &p->labels.v[i], &a.b[i]))
			return false;
	if (p->labels.n != 4) {
		dest_fail(p, DIAG_IPV4, part,
			  "an IPv4 address has four parts, this has %u",
			  p->labels.n);
		dest_help(
			p,
			"a name does not end in a number; for a network write '10.0.0.0/8'");
		return false;
	}
	*out = a;
	return true;
}

/* --- names --------------------------------------------------------------- */

static bool wildcards(struct dest_parser *p, bool *out_any)
{
	*out_any = false;
	for (uint32_t i = 0; i < p->labels.n; i++) {
		const struct dest_label *l = &p->labels.v[i];

		switch (l->kind) {
		case DEST_LABEL_TEXT:
			continue;
		case DEST_LABEL_STAR:
			break;
		case DEST_LABEL_GLOBSTAR:
			if (i == 0)
				break;
			dest_fail(p, DIAG_WILDCARD, l->part,
				  "'**' stands leftmost or not at all");
			dest_help(p, "write '*' for one label here");
			return false;
		case DEST_LABEL_PARTIAL:
			dest_fail(p, DIAG_WILDCARD, l->part,
				  "'%s' has a wildcard inside a label",
				  dest_quote(p, l->s));
			dest_help(
				p,
				"a '*' stands for one whole label, as in '*.example.com', a leading '**' for one or more");
			return false;
		}
		*out_any = true;
	}
	return true;
}

/* The labels joined, in canonical form. */
static bool join_labels(struct dest_parser *p, struct span part,
			struct str *out)
{
	char room[256];
	struct buf b;

	buf_init_in(&b, p->c->a, room, sizeof(room));
	for (uint32_t i = 0; i < p->labels.n; i++) {
		const struct dest_label *l = &p->labels.v[i];
		struct str s;

		/* '*' and '**' are in that form. */
		if (!label_ascii(p, l->s, l->part, &s))
			return false;
		if (b.n)
			buf_addc(&b, '.');
		buf_add(&b, s);
	}
	if (b.n > LIMIT_NAME_BYTES) {
		dest_fail(p, DIAG_NAME, part,
			  "a name of %zu bytes, where DNS has at most %u", b.n,
			  LIMIT_NAME_BYTES);
		return false;
	}
	*out = buf_keep(&b);
	return true;
}

bool dest_name(struct dest_parser *p, struct span part)
{
	const struct dest_label *last = &p->labels.v[p->labels.n - 1];
	struct ir_dest *d = &p->dest;
	bool wild;
	struct str name;

	if (wildcard_network(p, part))
		return false;
	if (!wildcards(p, &wild))
		return false;
	if (p->labels.n == 1 && last->kind == DEST_LABEL_STAR) {
		d->kind = IR_DEST_ANY;
		return true;
	}
	if (last->kind == DEST_LABEL_GLOBSTAR) {
		dest_fail(p, DIAG_WILDCARD, part, "'**' without a name");
		dest_help(p, "write '*' for every destination");
		return false;
	}
	if (ends_in_number(last)) {
		struct cidr net = {.bits = 32};

		if (!parse_addr4(p, part, &net.addr))
			return false;
		d->kind = IR_DEST_CIDR;
		d->u.cidr.net = net;
		return true;
	}
	if (!join_labels(p, part, &name))
		return false;
	if (addr_names_machine(name)) {
		d->kind = IR_DEST_CIDR;
		d->by_name = true;
		d->u.cidr.net.bits = addr_bits(ADDR_V4);
		return addr_parse(STR(LINK_MACHINE_V4), &d->u.cidr.net.addr);
	}
	d->kind = wild ? IR_DEST_PATTERN : IR_DEST_HOST;
	if (wild)
		d->u.pattern.name = name;
	else
		d->u.host.name = name;
	return true;
}
