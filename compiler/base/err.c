#include "compiler/base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

int err_set(struct err *err, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	err->code = code;
	return code;
}

int err_errno(struct err *err, const char *what)
{
	int code = -errno;

	return err_set(err, code, "%s: %s", what, strerror(-code));
}

int err_while(struct err *err, const char *fmt, ...)
{
	char inner[sizeof(err->text)];
	size_t used;
	va_list ap;

	memcpy(inner, err->text, sizeof(inner));
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	used = strlen(err->text);
	snprintf(err->text + used, sizeof(err->text) - used, ": %.*s",
		 (int)(sizeof(inner) - 1), inner);
	return err->code;
}

void fd_close(int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		close(*fd);
	errno = saved;
}
