#include "compiler/commands/contribution.h"

/* Another way of writing the texts down needs another number. */
#define HEAD "membrane contribution 1"

void contribution_digest(struct arena *a, const ir_texts *adds,
			 char out[SHA256_HEX_MAX])
{
	struct buf b;

	buf_init(&b, a);
	buf_adds(&b, HEAD);
	buf_addc(&b, '\0');
	/* No text of a policy holds a NUL. */
	vec_each(t, adds) {
		buf_add(&b, t->s);
		buf_addc(&b, '\0');
	}
	sha256_hex(buf_str(&b), out);
}

void contribution_make(struct compilation *c, struct contribution *out)
{
	struct pass_ctx ctx = driver_ctx(c);
	docs own = {0};

	*out = (struct contribution){0};
	vec_each(d, &c->docs)
		if (d->layer != LAYER_FLAGS)
			*vec_push(c->a, &own) = *d;
	passes_additions(&ctx, &own, &out->adds);
	contribution_digest(c->a, &out->adds, out->digest);
}
