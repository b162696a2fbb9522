#include "compiler/emit/docker/docker_names.h"

#include "compiler/base/ascii.h"

#include <string.h>

static bool is_lower(char c)
{
	return ascii_is_lower(c) || ascii_is_digit(c);
}

static bool is_word(struct str s, const char *more)
{
	for (size_t i = 0; i < s.n; i++)
		if (!ascii_is_alnum(s.p[i]) &&
		    !(s.p[i] && strchr(more, s.p[i])))
			return false;
	return s.n > 0;
}

/* Runs of lower case letters and digits; between them ".", "_", "__" or
 * any number of "-". */
static bool path_component(struct str s)
{
	size_t i = 0;

	while (i < s.n && is_lower(s.p[i])) {
		size_t sep;

		while (i < s.n && is_lower(s.p[i]))
			i++;
		if (i == s.n)
			return true;
		sep = i;
		while (i < s.n && s.p[i] == s.p[sep] && strchr("._-", s.p[i]))
			i++;
		if ((s.p[sep] == '.' && i - sep > 1) ||
		    (s.p[sep] == '_' && i - sep > 2))
			return false;
	}
	return false;
}

static bool domain_name(struct str s)
{
	struct str part;
	size_t dots = 0, parts = 0;

	for (size_t i = 0; i < s.n; i++)
		dots += s.p[i] == '.';
	while (str_field(&s, '.', &part)) {
		if (!is_word(part, "-") || part.p[0] == '-' ||
		    part.p[part.n - 1] == '-')
			return false;
		parts++;
	}
	return parts == dots + 1;
}

static bool is_domain(struct str s)
{
	uint64_t port;
	size_t colon;

	if (s.p[0] == '[') { /* an IPv6 address */
		colon = str_find(s, ']', 0);
		if (colon == s.n || !is_word(str_slice(s, 1, colon), ":"))
			return false;
		colon++;
		if (colon < s.n && s.p[colon] != ':')
			return false;
	} else {
		colon = str_find(s, ':', 0);
		if (!domain_name(str_slice(s, 0, colon)))
			return false;
	}
	return colon == s.n ||
	       str_u64(str_slice(s, colon + 1, s.n), 65535, &port);
}

static bool is_tag(struct str s)
{
	return s.n <= 128 && is_word(s, "_.-") && s.p[0] != '.' &&
	       s.p[0] != '-';
}

static bool is_digest(struct str s)
{
	struct str algorithm;

	if (!str_field(&s, ':', &algorithm) || !is_word(algorithm, "+._-") ||
	    s.n < 32)
		return false;
	return ascii_is_hex(s);
}

/* The first component is a host when it could not be a path; "localhost" can be
 * either. */
static bool names_host(struct str first)
{
	for (size_t i = 0; i < first.n; i++)
		if (strchr(".:[", first.p[i]) || ascii_is_upper(first.p[i]))
			return true;
	return false;
}

bool docker_names_image(struct str s)
{
	size_t at = str_find(s, '@', 0), slash, colon;
	struct str name = str_slice(s, 0, at), part;

	if (at < s.n && !is_digest(str_slice(s, at + 1, s.n)))
		return false;
	for (slash = name.n; slash > 0 && name.p[slash - 1] != '/';)
		slash--;
	colon = str_find(name, ':', slash);
	if (colon < name.n && !is_tag(str_slice(name, colon + 1, name.n)))
		return false;
	name = str_slice(name, 0, colon);
	if (name.n == 0 || name.n > 255 || name.p[name.n - 1] == '/')
		return false;
	slash = str_find(name, '/', 0);
	if (slash < name.n && names_host(str_slice(name, 0, slash))) {
		if (!is_domain(str_slice(name, 0, slash)))
			return false;
		name = str_slice(name, slash + 1, name.n);
	}
	while (str_field(&name, '/', &part))
		if (!path_component(part))
			return false;
	return true;
}

bool docker_names_network(struct str s)
{
	return is_word(s, "_.-") && ascii_is_alnum(s.p[0]) &&
	       !str_is(s, "host") && !str_is(s, "none") &&
	       !str_is(s, "default") && s.n <= 128;
}
