#include "runtime/launch/attach/detach.h"

#include "tests/check.h"

#include <string.h>

static void check_parse(void)
{
	static const struct {
		const char *text;
		const char *keys; /* NULL: refused */
		size_t n;
	} t[] = {
		{"ctrl-p,ctrl-q", "\x10\x11", 2},
		{"x", "x", 1},
		{"ctrl-@", "\0", 1},
		{"ctrl-[,ctrl-\\,ctrl-],ctrl-^,ctrl-_", "\x1b\x1c\x1d\x1e\x1f",
		 5},
		{"ctrl-a,d",
		 "\x01"
		 "d",
		 2},
		{"ctrl-z", "\x1a", 1},
		{"a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p", "abcdefghijklmnop", 16},
		{"a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q", NULL, 0},
		{"", NULL, 0},
		{",", NULL, 0},
		{"a,", NULL, 0},
		{",a", NULL, 0},
		{"ab", NULL, 0},
		{"ctrl-", NULL, 0},
		{"ctrl-P", NULL, 0},
		{"ctrl-1", NULL, 0},
		{"ctrl-pq", NULL, 0},
		{"Ctrl-p", NULL, 0},
		{"\xc3\xbc", NULL, 0},
		{"\xfc", NULL, 0},
		{"ctrl-~", NULL, 0},
		{"ctrl-\xfc", NULL, 0},
	};

	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		struct detach d;
		bool ok = detach_parse(str_of(t[i].text), &d);

		CHECK(ok == (t[i].keys != NULL));
		if (ok)
			CHECK(d.n == t[i].n &&
			      memcmp(d.keys, t[i].keys, d.n) == 0);
	}
}

/*
 * The same by remembering everything that was typed: what went on is that,
 * less the longest end of it that begins the keys.
 */
static bool slow(const struct detach *d, const char *typed, size_t n,
		 size_t *out)
{
	for (size_t i = d->n; i <= n; i++)
		if (memcmp(typed + i - d->n, d->keys, d->n) == 0) {
			*out = i - d->n;
			return true;
		}
	for (size_t held = d->n - 1; held > 0; held--)
		if (held <= n && memcmp(typed + n - held, d->keys, held) == 0) {
			*out = n - held;
			return false;
		}
	*out = n;
	return false;
}

/* All that can be typed of two letters, cut in all places, for all keys. */
static void check_take(void)
{
	for (unsigned keys = 0; keys < 16; keys++)
		for (unsigned bits = 0; bits < 1u << 9; bits++)
			for (size_t cut = 0; cut <= 9; cut++) {
				char typed[9], out[9 + 2 * DETACH_MAX];
				struct detach d = {.n = 4};
				size_t n = 0, more = 0, wanted;
				bool left;

				for (unsigned k = 0; k < 4; k++)
					d.keys[k] = keys >> k & 1 ? 'b' : 'a';
				for (unsigned k = 0; k < 9; k++)
					typed[k] = bits >> k & 1 ? 'b' : 'a';
				left = detach_take(&d, (struct str){typed, cut},
						   out, &n);
				if (!left)
					left = detach_take(
						&d,
						(struct str){typed + cut,
							     9 - cut},
						out + n, &more);
				d.matched = 0;
				CHECK(left == slow(&d, typed, 9, &wanted));
				CHECK(n + more == wanted);
				CHECK(memcmp(out, typed, wanted) == 0);
			}
}

int main(void)
{
	check_parse();
	check_take();
	return check_status();
}
