#include "runtime/gate/onward/standins.h"

#include "compiler/base/standin_nets.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define IN_A_NETWORK 254u

_Static_assert(STANDIN_NETS *IN_A_NETWORK == STANDINS_MAX,
	       "one address for each");

int standins_new(struct standins **out, struct err *err)
{
	void *at = mmap(NULL, sizeof(**out), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return err_errno(err, "memory for stand-ins");
	*out = at;
	return 0;
}

static void put_addr(uint32_t i, struct addr *out)
{
	*out = standin_nets[i / IN_A_NETWORK].addr;
	out->b[3] = (uint8_t)(i % IN_A_NETWORK + 1);
}

/* One that was never given away, or the one that rested longest. */
static struct standin *find_free(struct standins *s, int64_t now_ms)
{
	struct standin *oldest = &s->v[0];

	if (s->n < STANDINS_MAX)
		return &s->v[s->n++];
	for (uint32_t i = 1; i < STANDINS_MAX; i++)
		if (s->v[i].asked_ms < oldest->asked_ms)
			oldest = &s->v[i];
	return now_ms - oldest->asked_ms >= STANDINS_KEEP_MS ? oldest : NULL;
}

bool standins_take(struct standins *s, struct str name, int64_t now_ms,
		   struct addr *out)
{
	struct standin *x = NULL;

	if (name.n == 0 || name.n > LIMIT_NAME_BYTES)
		return false;
	for (uint32_t i = 0; !x && i < s->n; i++)
		if (str_is(name, s->v[i].name))
			x = &s->v[i];
	if (!x) {
		x = find_free(s, now_ms);
		if (!x)
			return false;
		memset(x->name, 0, sizeof(x->name));
		memcpy(x->name, name.p, name.n);
	}
	x->asked_ms = now_ms;
	put_addr((uint32_t)(x - s->v), out);
	return true;
}

const char *standins_name(const struct standins *s, const struct addr *addr)
{
	struct addr own;

	for (uint32_t i = 0; i < s->n; i++) {
		put_addr(i, &own);
		if (addr_eq(&own, addr))
			return s->v[i].name[0] ? s->v[i].name : NULL;
	}
	return NULL;
}

bool standins_pass(struct standins *s, const struct addr *addr, int64_t now_ms,
		   int64_t until_ms)
{
	struct standin_passing *at = NULL;

	for (uint32_t i = 0; i < STANDINS_PASSING; i++) {
		struct standin_passing *x = &s->passing[i];

		if (addr_eq(&x->addr, addr)) {
			if (until_ms > x->until_ms)
				x->until_ms = until_ms;
			return true;
		}
		if (x->until_ms <= now_ms)
			at = x;
	}
	if (!at)
		return false;
	/* never another's address with this one's time */
	__atomic_store_n(&at->until_ms, 0, __ATOMIC_SEQ_CST);
	at->addr = *addr;
	__atomic_store_n(&at->until_ms, until_ms, __ATOMIC_SEQ_CST);
	return true;
}

bool standins_passes(const struct standins *s, const struct addr *addr,
		     int64_t now_ms)
{
	for (uint32_t i = 0; i < STANDINS_PASSING; i++) {
		const struct standin_passing *x = &s->passing[i];

		if (__atomic_load_n(&x->until_ms, __ATOMIC_SEQ_CST) > now_ms &&
		    addr_eq(&x->addr, addr))
			return true;
	}
	return false;
}
