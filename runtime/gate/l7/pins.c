#include "runtime/gate/l7/pins.h"

#include "compiler/base/hash.h"
#include "runtime/gate/l7/admin.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* More than one command ever takes: words, list, name, address. */
#define COMMAND_MAX (16u + 108u + LIMIT_NAME_BYTES + ADDR_TEXT_MAX + 8u)

struct batch {
	char text[ADMIN_BATCH_MAX];
	size_t n;
	unsigned commands;
};

void pins_init(struct pins *p, const char *list)
{
	p->admin = NULL;
	p->list = list;
	p->free = -1;
	for (size_t i = 0; i < PINS_BUCKETS; i++)
		p->heads[i] = -1;
}

static int32_t *head_of(struct pins *p, struct str name, const struct addr *a)
{
	uint32_t h = hash_bytes(hash_str(name), a->b, sizeof(a->b));

	return &p->heads[hash_mixed(h) % PINS_BUCKETS];
}

static struct pin *find_pin(struct pins *p, struct str name,
			    const struct addr *a)
{
	for (int32_t at = *head_of(p, name, a); at >= 0; at = p->v[at].next)
		if (str_is(name, p->v[at].name) && addr_eq(&p->v[at].addr, a))
			return &p->v[at];
	return NULL;
}

static bool is_speakable(struct str name)
{
	for (size_t i = 0; i < name.n; i++) {
		char c = name.p[i];

		if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
		      c == '-' || c == '_' || c == '.'))
			return false;
	}
	return name.n > 0 && name.n <= LIMIT_NAME_BYTES;
}

static int flush_batch(const struct pins *p, struct batch *b, const char *fine,
		       struct err *err)
{
	int rc;

	if (b->commands == 0 || !p->admin) {
		b->n = b->commands = 0;
		return 0;
	}
	b->text[b->n - 1] = '\n'; /* in place of the last ';' */
	rc = admin_do(p->admin, (struct str){b->text, b->n}, b->commands, fine,
		      err);
	b->n = b->commands = 0;
	return rc;
}

/*
 * One command into the batch, which goes out when it is full. Only adding
 * takes a value, and only deleting has something that is fine to hear.
 */
static int push_command(const struct pins *p, struct batch *b, const char *verb,
			struct str name, const struct addr *a, const char *fine,
			struct err *err)
{
	char text[ADDR_TEXT_MAX];

	b->n += (size_t)snprintf(b->text + b->n, sizeof(b->text) - b->n,
				 "%s map %.100s %.*s@%s%s;", verb, p->list,
				 STR_ARG(name), addr_text(a, text),
				 fine ? "" : " 1");
	b->commands++;
	return b->n + COMMAND_MAX > sizeof(b->text)
		       ? flush_batch(p, b, fine, err)
		       : 0;
}

static uint32_t room_left(const struct pins *p)
{
	return PINS_MAX - p->n;
}

static void keep_pin(struct pins *p, struct str name, const struct addr *a,
		     int64_t until_ms)
{
	struct pin *pin = find_pin(p, name, a);
	int32_t at = p->free;

	if (pin) {
		if (until_ms > pin->until_ms)
			pin->until_ms = until_ms;
		return;
	}
	if (at >= 0)
		p->free = p->v[at].next;
	else
		at = (int32_t)p->n_ever++;
	pin = &p->v[at];
	memcpy(pin->name, name.p, name.n);
	pin->name[name.n] = '\0';
	pin->addr = *a;
	pin->until_ms = until_ms;
	pin->filed = false;
	pin->next = *head_of(p, name, a);
	*head_of(p, name, a) = at;
	p->n++;
}

int pins_add(struct pins *p, struct str name, const struct addr *const *addrs,
	     size_t n, int64_t until_ms, struct err *err)
{
	struct batch b = {.n = 0};
	int rc = 0;

	if (!is_speakable(name))
		return 0;
	if (n > room_left(p))
		return err_set(err, -ENFILE, "too many names and addresses");
	for (size_t i = 0; rc == 0 && i < n; i++)
		if (!find_pin(p, name, addrs[i]))
			rc = push_command(p, &b, "add", name, addrs[i], NULL,
					  err);
	if (rc == 0)
		rc = flush_batch(p, &b, NULL, err);
	for (size_t i = 0; rc == 0 && i < n; i++)
		keep_pin(p, name, addrs[i], until_ms);
	return rc;
}

static void forget_pin(struct pins *p, struct pin *pin)
{
	int32_t at = (int32_t)(pin - p->v);
	int32_t *head = head_of(p, str_of(pin->name), &pin->addr);

	while (*head != at)
		head = &p->v[*head].next;
	*head = pin->next;
	pin->name[0] = '\0';
	pin->next = p->free;
	p->free = at;
	p->n--;
}

int pins_sweep(struct pins *p, int64_t now_ms, struct err *err)
{
	/* One that was added twice, after a failure, goes with the first. */
	static const char gone[] = "Key not found.";
	struct batch b = {.n = 0};
	unsigned n = 0;
	int rc = 0;

	for (uint32_t i = 0; i < p->n_ever && n < PINS_SWEEP; i++) {
		struct pin *pin = &p->v[i];

		if (!pin->name[0] || pin->until_ms > now_ms)
			continue;
		rc = push_command(p, &b, "del", str_of(pin->name), &pin->addr,
				  gone, err);
		if (rc < 0)
			return rc;
		forget_pin(p, pin);
		n++;
	}
	return flush_batch(p, &b, gone, err);
}

/* --- for the next HAProxy ------------------------------------------------- */

int pins_file(struct pins *p, const char *path, struct err *err)
{
	auto_fd int fd =
		open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	char line[COMMAND_MAX], addr[ADDR_TEXT_MAX];

	if (fd < 0 || fchmod(fd, 0644) < 0)
		return err_set(err, -errno, "%s: %s", path, strerror(errno));
	for (uint32_t i = 0; i < p->n_ever; i++) {
		struct pin *pin = &p->v[i];
		int n;

		if (!pin->name[0])
			continue;
		n = snprintf(line, sizeof(line), "%s@%s 1\n", pin->name,
			     addr_text(&pin->addr, addr));
		if (write(fd, line, (size_t)n) != n)
			return err_set(err, -ENOSPC, "%s: no room", path);
		pin->filed = true;
	}
	return 0;
}

int pins_follow(struct pins *p, const char *admin, struct err *err)
{
	struct batch b = {.n = 0};
	int rc = 0;

	p->admin = admin;
	for (uint32_t i = 0; rc == 0 && i < p->n_ever; i++)
		if (p->v[i].name[0] && !p->v[i].filed)
			rc = push_command(p, &b, "add", str_of(p->v[i].name),
					  &p->v[i].addr, NULL, err);
	return rc == 0 ? flush_batch(p, &b, NULL, err) : rc;
}
