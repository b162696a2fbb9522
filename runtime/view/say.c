#include "runtime/view/say.h"

#include "compiler/plan/view_hello.h"

#include <cjson/cJSON.h>

size_t say_line(const char *event, const char *message, char buf[SAY_LINE_MAX])
{
	cJSON *o = cJSON_CreateObject();
	size_t n = 0;

	if (cJSON_AddStringToObject(o, VIEW_SAYS_EVENT, event) &&
	    (!message || cJSON_AddStringToObject(o, "message", message)) &&
	    cJSON_PrintPreallocated(o, buf, SAY_LINE_MAX - 1, false)) {
		n = strlen(buf);
		buf[n++] = '\n';
	}
	cJSON_Delete(o);
	return n;
}

static void say_text(int fd, const char *event, const char *message)
{
	char line[SAY_LINE_MAX];
	size_t n = say_line(event, message, line);

	ignore(write(fd, line, n));
}

void say_event(int fd, const char *event)
{
	say_text(fd, event, NULL);
}

void say_error(int fd, const struct err *err)
{
	say_text(fd, VIEW_SAYS_ERROR, err->text);
}
