/*
 * The networks of the addresses that stand in for names, where names go by a
 * proxy or are asked about (runtime/gate/onward): those for documentation,
 * which nobody has. RFC 5737, section 3. All are of 24 bits.
 */
#ifndef COMPILER_BASE_STANDIN_NETS_H
#define COMPILER_BASE_STANDIN_NETS_H

#include "compiler/base/addr.h"

#define STANDIN_BITS 24u

static const struct cidr standin_nets[] = {
	{{ADDR_V4, {192, 0, 2}}, STANDIN_BITS},
	{{ADDR_V4, {198, 51, 100}}, STANDIN_BITS},
	{{ADDR_V4, {203, 0, 113}}, STANDIN_BITS},
};

#define STANDIN_NETS (sizeof(standin_nets) / sizeof(*standin_nets))

static inline bool standin_nets_have(const struct addr *addr)
{
	for (size_t i = 0; i < STANDIN_NETS; i++)
		if (cidr_has(&standin_nets[i], addr))
			return true;
	return false;
}

/* One that has an address in common with net; NULL: none. */
static inline const struct cidr *standin_nets_meet(const struct cidr *net)
{
	for (size_t i = 0; i < STANDIN_NETS; i++)
		if (cidr_covers(net, &standin_nets[i]) ||
		    cidr_covers(&standin_nets[i], net))
			return &standin_nets[i];
	return NULL;
}

#endif
