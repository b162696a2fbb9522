/*
 * Most sessions read no certificate, and loading libcrypto takes longer than
 * all that `plan` does. What is loaded when a program begins is also copied
 * into each process that it makes. So the program is not linked with it.
 */
#include "runtime/launch/docker/libcrypto.h"

#include <dlfcn.h>
#include <errno.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#define SYMBOLS(X)                                                             \
	X(BIO_ctrl)                                                            \
	X(BIO_free)                                                            \
	X(BIO_new)                                                             \
	X(BIO_new_mem_buf)                                                     \
	X(BIO_s_mem)                                                           \
	X(CRYPTO_clear_free)                                                   \
	X(CRYPTO_free)                                                         \
	X(ERR_clear_error)                                                     \
	X(ERR_get_error)                                                       \
	X(ERR_reason_error_string)                                             \
	X(PEM_read_bio)                                                        \
	X(PEM_write_bio_X509)                                                  \
	X(X509_check_ca)                                                       \
	X(X509_free)                                                           \
	X(d2i_X509)

static struct {
#define X(name) __typeof__(&name) name;
	SYMBOLS(X)
#undef X
} real;

static bool is_open;

int libcrypto_open(struct err *err)
{
	void *lib;

	if (is_open)
		return 0;
	lib = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL);
	if (!lib)
		return err_set(err, -ENOENT, "libcrypto is not here (libssl3)");
	/* POSIX's way to make a function of what dlsym() returns. */
#define X(name)                                                                \
	if (!(*(void **)(&real.name) = dlsym(lib, #name)))                     \
		return err_set(err, -ENOENT, "libcrypto has no " #name);
	SYMBOLS(X)
#undef X
	is_open = true;
	return 0;
}

long BIO_ctrl(BIO *b, int cmd, long larg, void *parg)
{
	return real.BIO_ctrl(b, cmd, larg, parg);
}

int BIO_free(BIO *b)
{
	return real.BIO_free(b);
}

BIO *BIO_new(const BIO_METHOD *type)
{
	return real.BIO_new(type);
}

BIO *BIO_new_mem_buf(const void *buf, int len)
{
	return real.BIO_new_mem_buf(buf, len);
}

const BIO_METHOD *BIO_s_mem(void)
{
	return real.BIO_s_mem();
}

void CRYPTO_clear_free(void *ptr, size_t num, const char *file, int line)
{
	real.CRYPTO_clear_free(ptr, num, file, line);
}

void CRYPTO_free(void *ptr, const char *file, int line)
{
	real.CRYPTO_free(ptr, file, line);
}

void ERR_clear_error(void)
{
	real.ERR_clear_error();
}

unsigned long ERR_get_error(void)
{
	return real.ERR_get_error();
}

const char *ERR_reason_error_string(unsigned long e)
{
	return real.ERR_reason_error_string(e);
}

int PEM_read_bio(BIO *bp, char **name, char **header, unsigned char **data,
		 long *len)
{
	return real.PEM_read_bio(bp, name, header, data, len);
}

int PEM_write_bio_X509(BIO *out, const X509 *x)
{
	return real.PEM_write_bio_X509(out, x);
}

int X509_check_ca(X509 *x)
{
	return real.X509_check_ca(x);
}

void X509_free(X509 *a)
{
	real.X509_free(a);
}

X509 *d2i_X509(X509 **a, const unsigned char **in, long len)
{
	return real.d2i_X509(a, in, len);
}
