/*
 * Requests to one destination, in cells: what a few rules cannot tell apart.
 * One request of each is enough to ask.
 */
#ifndef COMPILER_ALGEBRA_SPACE_CELLS_H
#define COMPILER_ALGEBRA_SPACE_CELLS_H

#include "compiler/algebra/space/sides.h"

/* Whom a request goes to: a name, an address, or an address under a name. */
struct target {
	struct str name;
	bool has_addr;
	struct addr addr;
};

struct ir_request cells_connect(const struct target *to, enum ir_proto proto,
				uint16_t port);
/* The same over UDP, of QUIC. */
struct ir_request cells_quic(const struct target *to, uint16_t port);
/* A request of a cell that outlives it: what it names is in scratch memory. */
struct ir_request cells_kept(struct arena *a, const struct ir_request *r);
struct ir_request cells_resolve(struct str name);

/* --- ports --------------------------------------------------------------- */

struct cells_ports {
	enum ir_proto proto;
	uint16_t lo, hi;
	uint16_t shown; /* one of them, the best known */
	/* Rules that have them; gone after the visit. Where the
	 * floor denies, all grants that may open it. */
	uint32_t *ids;
	uint32_t n;
};
typedef void (*cells_ports_visit)(void *ctx, const struct cells_ports *c);
/*
 * The ports that the same of the rules have; not those that no grant has,
 * which every policy refuses. only: no others, unless NULL. Denials of requests
 * have UDP ports here as well, where QUIC could carry those.
 */
void cells_ports(struct sides *s, const uint32_t *ids, uint32_t n,
		 const ir_ports *only, cells_ports_visit visit, void *ctx);

/* --- http ---------------------------------------------------------------- */

struct cells_http {
	struct ir_request request;
	bool other; /* its method stands for all that no rule names */
	/* CONNECT, where no rule names it: it tells whether requests are read */
	bool unnamed;
	const uint32_t
		*ids; /* rules that may decide it; gone after the visit */
	uint32_t n;
};
typedef void (*cells_http_visit)(void *ctx, const struct cells_http *c);
/*
 * Requests of both schemes on one port; the rules are those that have it. When
 * visit is called, the views of s hold what decides. only: no other methods,
 * no paths but those below its own (as http_paths() has them), unless NULL.
 *
 * CONNECT, which is not decided as other methods are, is asked by itself: where
 * the set or a rule names it, and, with all methods, wherever that is not so,
 * too. Paths that are not canonical are left out: cells_crooked().
 */
void cells_http(struct sides *s, const struct target *to, uint16_t port,
		const uint32_t *ids, uint32_t n, const struct ir_http *only,
		cells_http_visit visit, void *ctx);

/*
 * Of a name where no rule is about requests: they are decided as connections
 * to it are, but for CONNECT.
 */
bool cells_no_requests(const struct sides *s, const struct target *to,
		       const uint32_t *ids, uint32_t n);

/* CONNECT alone, as cells_http() asks it. */
void cells_tunnel(struct sides *s, const struct target *to, uint16_t port,
		  const uint32_t *ids, uint32_t n, cells_http_visit visit,
		  void *ctx);

/* A path that is not canonical, as a client could send it. */
#define CELLS_CROOKED "/a/../b"
/*
 * The same with that path: a rule about paths refuses all of those alike, and
 * where there is none, they are decided like any other.
 */
void cells_crooked(struct sides *s, const struct target *to, uint16_t port,
		   uint32_t *ids, uint32_t n, cells_http_visit visit,
		   void *ctx);

#endif
