/*
 * libcurl, loaded when the first request is made.
 *
 * It brings some thirty libraries, whose loading takes twice as long as all
 * that `plan` does. So the program is not linked with it; the functions of
 * curl/curl.h that are used stand here and lead into the library that
 * curl_global_init() opens. That one has to come first, and when there is no
 * libcurl it says CURLE_FAILED_INIT.
 */
#include <curl/curl.h>

#include <dlfcn.h>
#include <stdarg.h>
#include <stddef.h>

/* They are macros that check types; here are the functions. */
#undef curl_easy_setopt
#undef curl_easy_getinfo

#define SYMBOLS(X)                                                             \
	X(curl_easy_cleanup)                                                   \
	X(curl_easy_getinfo)                                                   \
	X(curl_easy_init)                                                      \
	X(curl_easy_perform)                                                   \
	X(curl_easy_reset)                                                     \
	X(curl_easy_setopt)                                                    \
	X(curl_easy_strerror)                                                  \
	X(curl_global_init)                                                    \
	X(curl_multi_add_handle)                                               \
	X(curl_multi_cleanup)                                                  \
	X(curl_multi_info_read)                                                \
	X(curl_multi_init)                                                     \
	X(curl_multi_perform)                                                  \
	X(curl_multi_poll)                                                     \
	X(curl_multi_remove_handle)                                            \
	X(curl_slist_append)                                                   \
	X(curl_slist_free_all)

static struct {
#define X(name) __typeof__(&name) name;
	SYMBOLS(X)
#undef X
} real;

static void *open_library(void)
{
	static const char *const names[] = {
		"libcurl.so.4", "libcurl-gnutls.so.4", "libcurl.4.dylib"};
	void *lib = NULL;

	for (size_t i = 0; !lib && i < sizeof(names) / sizeof(*names); i++)
		lib = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL);
	return lib;
}

CURLcode curl_global_init(long flags)
{
	void *lib = real.curl_global_init ? NULL : open_library();

	/* POSIX's way to make a function of what dlsym() returns. */
#define X(name)                                                                \
	if (lib && !(*(void **)(&real.name) = dlsym(lib, #name)))              \
		return CURLE_FAILED_INIT;
	SYMBOLS(X)
#undef X
	return real.curl_global_init ? real.curl_global_init(flags)
				     : CURLE_FAILED_INIT;
}

CURL *curl_easy_init(void)
{
	return real.curl_easy_init();
}

/* What follows the option depends on its kind; curl_easy_setopt(3). */
CURLcode curl_easy_setopt(CURL *h, CURLoption option, ...)
{
	va_list ap;
	CURLcode rc;

	va_start(ap, option);
	if (option < CURLOPTTYPE_OBJECTPOINT)
		rc = real.curl_easy_setopt(h, option, va_arg(ap, long));
	else if (option >= CURLOPTTYPE_OFF_T && option < CURLOPTTYPE_BLOB)
		rc = real.curl_easy_setopt(h, option, va_arg(ap, curl_off_t));
	else
		rc = real.curl_easy_setopt(h, option, va_arg(ap, void *));
	va_end(ap);
	return rc;
}

CURLcode curl_easy_getinfo(CURL *h, CURLINFO info, ...)
{
	va_list ap;
	CURLcode rc;

	va_start(ap, info);
	rc = real.curl_easy_getinfo(h, info, va_arg(ap, void *));
	va_end(ap);
	return rc;
}

CURLcode curl_easy_perform(CURL *h)
{
	return real.curl_easy_perform(h);
}

void curl_easy_reset(CURL *h)
{
	real.curl_easy_reset(h);
}

void curl_easy_cleanup(CURL *h)
{
	if (h)
		real.curl_easy_cleanup(h);
}

const char *curl_easy_strerror(CURLcode code)
{
	return real.curl_easy_strerror(code);
}

struct curl_slist *curl_slist_append(struct curl_slist *list, const char *s)
{
	return real.curl_slist_append(list, s);
}

void curl_slist_free_all(struct curl_slist *list)
{
	if (list)
		real.curl_slist_free_all(list);
}

CURLM *curl_multi_init(void)
{
	return real.curl_multi_init();
}

CURLMcode curl_multi_add_handle(CURLM *m, CURL *h)
{
	return real.curl_multi_add_handle(m, h);
}

CURLMcode curl_multi_remove_handle(CURLM *m, CURL *h)
{
	return real.curl_multi_remove_handle(m, h);
}

CURLMcode curl_multi_perform(CURLM *m, int *running)
{
	return real.curl_multi_perform(m, running);
}

CURLMcode curl_multi_poll(CURLM *m, struct curl_waitfd fds[], unsigned n,
			  int timeout_ms, int *out_n)
{
	return real.curl_multi_poll(m, fds, n, timeout_ms, out_n);
}

CURLMsg *curl_multi_info_read(CURLM *m, int *out_left)
{
	return real.curl_multi_info_read(m, out_left);
}

CURLMcode curl_multi_cleanup(CURLM *m)
{
	return m ? real.curl_multi_cleanup(m) : CURLM_OK;
}
