/* The bytes of a source before anything reads them as YAML. */
#include "compiler/front/yaml/yaml.h"

static bool fail_bytes(struct diags *d, const struct source *src, size_t beg,
		       size_t end, enum diag_id id, const char *what,
		       const char *help)
{
	struct span at = {src->base + (uint32_t)beg, src->base + (uint32_t)end};

	diag_error(d, id, at, "%s", what);
	diag_help(d, "%s", help);
	return false;
}

static bool check_bom(struct diags *d, const struct source *src)
{
	if (str_starts(src->text, STR("\xef\xbb\xbf")))
		return fail_bytes(d, src, 0, 3, DIAG_ENCODING,
				  "a byte order mark",
				  "save the file as UTF-8 without one");
	if (str_starts(src->text, STR("\xff\xfe")) ||
	    str_starts(src->text, STR("\xfe\xff")))
		return fail_bytes(d, src, 0, 2, DIAG_ENCODING, "UTF-16 text",
				  "save the file as UTF-8");
	return true;
}

bool yaml_check_bytes(struct diags *d, const struct source *src)
{
	const unsigned char *p = (const unsigned char *)src->text.p;
	size_t n = src->text.n, len;

	if (!check_bom(d, src))
		return false;
	for (size_t i = 0; i < n; i += len) {
		len = str_utf8(src->text, i);
		if (len == 0)
			return fail_bytes(d, src, i, i + 1, DIAG_ENCODING,
					  "a byte that is not UTF-8",
					  "a policy is UTF-8 text");
		if (p[i] == '\0')
			return fail_bytes(d, src, i, i + 1, DIAG_ENCODING,
					  "a NUL byte", "remove it");
		if (p[i] == '\r')
			return fail_bytes(
				d, src, i, i + 1, DIAG_LINE_END,
				"a carriage return",
				"end lines with a line feed alone; `dos2unix` converts a file");
		if ((p[i] < 0x20 && p[i] != '\t' && p[i] != '\n') ||
		    p[i] == 0x7f || (p[i] == 0xc2 && p[i + 1] < 0xa0))
			return fail_bytes(
				d, src, i, i + len, DIAG_ENCODING,
				"a control character",
				"remove it, or write it as an escape in double quotes");
		if (len == 3 && str_is_bidi(p + i))
			return fail_bytes(
				d, src, i, i + len, DIAG_ENCODING,
				"a character that reorders the text around it",
				"remove it: a policy reads as it acts");
	}
	return true;
}
