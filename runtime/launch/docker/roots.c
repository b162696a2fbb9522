#include "runtime/launch/docker/roots.h"

#include "compiler/base/buf.h"
#include "compiler/base/sys/fileio.h"
#include "compiler/plan/docker_json.h"
#include "runtime/launch/docker/libcrypto.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <string.h>

#define BEGIN "-----BEGIN "

/* One block: what it is called, and what stands in it. */
struct block {
	char *name, *header;
	unsigned char *data;
	long n;
};

static unsigned line_of(struct str text, size_t at)
{
	unsigned line = 1;

	for (size_t i = 0; i < at; i++)
		line += text.p[i] == '\n';
	return line;
}

/* Where the next block begins; text.n for none. */
static size_t next_begin(struct str text, size_t from)
{
	static const size_t n = sizeof(BEGIN) - 1;

	for (size_t at = from; at + n <= text.n; at++)
		if (memcmp(text.p + at, BEGIN, n) == 0 &&
		    (at == 0 || text.p[at - 1] == '\n'))
			return at;
	return text.n;
}

static const char *openssl_words(void)
{
	const char *why = ERR_reason_error_string(ERR_get_error());

	ERR_clear_error();
	return why ? why : "it does not end";
}

static int add_certificate(struct roots *r, BIO *out, const struct block *b,
			   struct err *err)
{
	const unsigned char *at = b->data;
	X509 *x;
	int rc = 0;

	/* A key that came along shall go nowhere. */
	if (strcmp(b->name, PEM_STRING_X509) != 0)
		return err_set(err, -EINVAL,
			       "'%.40s', where only certificates may stand",
			       b->name);
	x = d2i_X509(NULL, &at, b->n);
	if (!x || at != b->data + b->n)
		rc = err_set(err, -EINVAL, "not a certificate: %s",
			     openssl_words());
	else if (X509_check_ca(x) == 0)
		rc = err_set(
			err, -EINVAL,
			"the certificate of a server, not of an authority");
	else if (PEM_write_bio_X509(out, x) != 1)
		rc = err_set(err, -ENOMEM, "out of memory");
	X509_free(x);
	r->n += rc == 0;
	return rc;
}

static int take_block(struct roots *r, BIO *in, BIO *out, struct err *err)
{
	struct block b = {0};
	int rc;

	if (PEM_read_bio(in, &b.name, &b.header, &b.data, &b.n) != 1)
		return err_set(err, -EINVAL, "not PEM: %s", openssl_words());
	rc = add_certificate(r, out, &b, err);
	OPENSSL_free(b.name);
	OPENSSL_free(b.header);
	OPENSSL_clear_free(b.data, (size_t)b.n);
	return rc;
}

static int take_blocks(struct roots *r, struct str text, BIO *out,
		       struct err *err)
{
	int rc = 0;

	for (size_t at = next_begin(text, 0); rc == 0 && at < text.n;
	     at = next_begin(text, at + 1)) {
		BIO *in = BIO_new_mem_buf(text.p + at, (int)(text.n - at));

		rc = in ? take_block(r, in, out, err)
			: err_set(err, -ENOMEM, "out of memory");
		BIO_free(in);
		if (rc < 0)
			return err_while(err, "line %u", line_of(text, at));
	}
	return r->n ? 0
		    : err_set(err, -EINVAL,
			      "no certificate in it: it is PEM that is read");
}

int roots_parse(struct arena *a, struct str text, struct roots *out,
		struct err *err)
{
	struct roots r = {0};
	char *p = NULL;
	BIO *made;
	long n;
	int rc = libcrypto_open(err);

	if (rc < 0)
		return rc;
	made = BIO_new(BIO_s_mem());
	if (!made)
		return err_set(err, -ENOMEM, "out of memory");
	ERR_clear_error();
	rc = take_blocks(&r, text, made, err);
	n = BIO_get_mem_data(made, &p);
	if (rc == 0) {
		r.pem = arena_str(a, (struct str){p, (size_t)n});
		sha256_hex(r.pem, r.digest);
		r.path = out->path;
		*out = r;
	}
	BIO_free(made);
	return rc;
}

int roots_read(struct arena *a, const char *path, const char *home,
	       struct roots *out, struct err *err)
{
	struct roots r = {.path = path};
	const char *real = path;
	struct str text;
	int rc;

	if (strncmp(path, "~/", 2) == 0) {
		if (!home)
			return err_set(err, -ENOENT,
				       "there is no home to look in");
		real = arena_fmt(a, "%s/%s", home, path + 2).p;
	}
	rc = fileio_read(a, AT_FDCWD, real, ROOTS_FILE_MAX, &text, err);
	if (rc == 0)
		rc = roots_parse(a, text, &r, err);
	if (rc == 0)
		*out = r;
	return rc;
}

int roots_place(const struct roots *r, const char *dir, struct err *err)
{
	auto_fd int at = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (at < 0)
		return err_set(err, -errno, "%s: %s", dir, strerror(errno));
	return fileio_write(at, DOCKER_JSON_UPSTREAM_CA_FILE, r->pem, 0644,
			    err);
}
