/*
 * names.map: which names resolve, and which sets their addresses go into.
 *
 * Pure: parses the compiler's text, matches names against it and judges
 * addresses. What it leaves to others: reading the file, asking the upstream,
 * and putting addresses into sets.
 *
 * The text is that of compiler/plan/names_map.h. A class counts as one number:
 * see struct names_classes.
 */
#ifndef RUNTIME_GATE_PLAN_NAMES_H
#define RUNTIME_GATE_PLAN_NAMES_H

#include "compiler/base/addr.h"
#include "compiler/base/err.h"
#include "compiler/base/limits.h"

#define NAMES_CLASSES_MAX (5 * LIMIT_CLASSES + 64u)
/* What goes past the proxy; alone of its kind. */
#define NAMES_CLASS_PAST  (5 * LIMIT_CLASSES + 1u)
#define NAMES_CLASS_WORDS (NAMES_CLASSES_MAX / 64u)
#define NAMES_MATCH_MAX	  16u /* matching lines that are remembered */
#define NAMES_HOSTS_MAX	  128u

/*
 * A set of port classes; class K is bit K - 1, "hK" is class LIMIT_CLASSES + K,
 * "dK" is 2 * LIMIT_CLASSES + K, "qK" is 3 * LIMIT_CLASSES + K, "aK" is
 * 4 * LIMIT_CLASSES + K; the last is NAMES_CLASS_PAST.
 */
struct names_classes {
	uint64_t w[NAMES_CLASS_WORDS];
};

struct names_line {
	struct str name;
	struct str id;
	struct names_classes classes;
	bool private_ok;
};

/* What a person may permit: a name's, or those of a network. */
struct names_ask {
	struct names_line line; /* without a name: of a network */
	struct cidr net;
	struct str ports;
	uint32_t wait_s;
	bool http; /* requests wait, and not the connection */
};

struct names_nets {
	struct cidr *v;
	uint32_t n;
};

struct names_map {
	bool proxied; /* names lead to stand-ins, but for those that pass */
	bool upstream_host; /* whoever reads this sets the two below */
	struct addr upstream_addr;
	uint16_t upstream_port;
	struct names_nets floor, priv, cover;
	struct names_nets past; /* the proxy */
	struct str *passing;	/* names and patterns that do */
	uint32_t n_passing;
	struct str *ports; /* of class K at K - 1; empty where there is none */
	unsigned last_ports;	  /* the class of the last ports line */
	struct names_line *exact; /* sorted by name */
	struct names_line *wild;
	struct names_line *deny, *guard;
	struct names_ask *ask; /* names first */
	uint32_t n_exact, n_wild, n_deny, n_guard, n_ask;
	char *text; /* what the strings above point into; owned */
};

struct names_match {
	struct names_classes classes;	      /* of all lines that match */
	struct names_classes classes_private; /* of those marked private */
	const struct names_line *lines[NAMES_MATCH_MAX]; /* exact ones first */
	uint32_t n_lines; /* that match; may be more than NAMES_MATCH_MAX */
	const struct names_ask *ask; /* the first that does; NULL: none */
	bool private_ok;	     /* one of them is marked private */
	bool past;		     /* the name goes past the proxy */
};

/* The host's own addresses, from the launcher and the routes. */
struct names_hosts {
	struct addr v[NAMES_HOSTS_MAX];
	uint32_t n;
	/* One of them: the proxy on the way out. proxy_port 0: there is none.
	 */
	struct addr proxy;
	uint16_t proxy_port;
	/* Who is asked for names beside one; resolver_port 0: nobody. None of
	 * the above. */
	struct addr resolver;
	uint16_t resolver_port;
};

enum names_verdict {
	NAMES_OPEN,    /* goes into the sets of the classes */
	NAMES_COVERED, /* stays in the answer; its cidr grant decides */
	NAMES_FLOOR,
	NAMES_HOST,
	NAMES_PRIVATE,
};

/*
 * Parse the whole text. Copies it; names_free() releases. On a refusal
 * (-EPROTO, or -ENOMEM) *out is untouched and nothing is left allocated.
 */
must_check int names_parse(struct str text, struct names_map *out,
			   struct err *err);
void names_free(struct names_map *map);

/*
 * Every line that matches name: lower case, no trailing dot. False when none
 * of a grant does; *out is filled either way, also with what may be asked.
 */
bool names_match(const struct names_map *map, struct str name,
		 struct names_match *out);

/*
 * Has one of the line's classes that any protocol may use this port of "tcp" or
 * "udp"? Nothing is permitted or refused by this: records ask it.
 */
bool names_permits(const struct names_map *map, const struct names_line *line,
		   const char *proto, uint16_t port);

/* What it says of grants is left out. */
void names_only_asked(struct names_match *m);

/*
 * Does a line of a grant that matches name open this TCP port? *out_http: to
 * HTTP and TLS alone.
 */
bool names_opens(const struct names_map *map, struct str name, uint16_t port,
		 bool *out_http);

/*
 * What is asked before a TCP port of that name, or of that address, is reached;
 * NULL: nothing.
 */
const struct names_ask *names_asked(const struct names_map *map,
				    struct str name, uint16_t port);
const struct names_ask *names_asked_addr(const struct names_map *map,
					 const struct addr *addr,
					 uint16_t port);
/* The one with that id, which is about that name, or, without one, address. */
const struct names_ask *names_ask_of(const struct names_map *map, struct str id,
				     struct str name, const struct addr *addr);

/* The first denial that matches name; NULL: none. */
const struct names_line *names_denied(const struct names_map *map,
				      struct str name);

/*
 * What becomes of an address in the answer for a name that matched. On
 * NAMES_OPEN *out_classes says into which sets it goes; perhaps none.
 */
enum names_verdict names_judge(const struct names_map *map,
			       const struct names_match *match,
			       const struct names_hosts *hosts,
			       const struct addr *addr,
			       struct names_classes *out_classes);

/* A host name, or a pattern as a `name` line may have one. */
bool names_pattern(struct str text);
/* Does a pattern that parsed match a host name that did? */
bool names_pattern_has(struct str pattern, struct str name);

/* Add once; false when full. */
bool names_hosts_add(struct names_hosts *hosts, const struct addr *addr);

/* The next class at or after k, from 1; 0 when there is none. */
unsigned names_class_next(const struct names_classes *c, unsigned k);
bool names_class_has(const struct names_classes *c, unsigned k);
bool names_covered(const struct names_map *map, const struct addr *addr);
/* The part of names_match() that says which way a name is gone to. */
void names_match_past(const struct names_map *map, struct str name,
		      struct names_match *m);
/* Does the name go by the proxy? */
bool names_by_proxy(const struct names_map *map, struct str name);
/* Is it in one of the networks? */
bool names_nets_have(const struct names_nets *nets, const struct addr *addr);

#endif
