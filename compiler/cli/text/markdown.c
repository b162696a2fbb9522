#include "compiler/cli/text/markdown.h"

/* The longest run of backticks. */
static unsigned longest_run(struct str text)
{
	unsigned longest = 0, run = 0;

	for (size_t i = 0; i < text.n; i++) {
		run = text.p[i] == '`' ? run + 1 : 0;
		if (run > longest)
			longest = run;
	}
	return longest;
}

static void put_backticks(struct buf *out, unsigned n)
{
	while (n--)
		buf_addc(out, '`');
}

void markdown_block(struct buf *out, const char *language, struct str text)
{
	unsigned run = longest_run(text), fence = run < 3 ? 3 : run + 1;

	put_backticks(out, fence);
	buf_addf(out, "%s\n", language);
	buf_add(out, text);
	put_backticks(out, fence);
	buf_addc(out, '\n');
}

/* CommonMark 0.31, section 6.1: a blank inside each end is dropped. */
void markdown_code(struct buf *out, struct str text)
{
	unsigned fence = longest_run(text) + 1;

	put_backticks(out, fence);
	if (fence > 1)
		buf_addc(out, ' ');
	buf_add(out, text);
	if (fence > 1)
		buf_addc(out, ' ');
	put_backticks(out, fence);
}
