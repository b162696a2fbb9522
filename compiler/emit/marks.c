#include "compiler/emit/marks.h"

void marks_add(struct marks *m, struct marks_one one)
{
	if (!m)
		return;
	one.file = m->file;
	*vec_push(m->a, &m->list) = one;
}

void marks_net(struct marks *m, struct marks_one one, const struct cidr *net)
{
	one.has_range = true;
	one.lo = net->addr;
	one.hi = cidr_last(net);
	marks_add(m, one);
}

uint32_t marks_line(struct str text, size_t at, struct str *out_line)
{
	uint32_t line = 1;
	size_t beg = 0;

	for (size_t i = 0; i < at && i < text.n; i++)
		if (text.p[i] == '\n') {
			line++;
			beg = i + 1;
		}
	*out_line = str_slice(text, beg, str_find(text, '\n', beg));
	return line;
}
