/*
 * protect_agent.js as a program without a loader: an agent with a secret in a
 * file of its home, and tools that want it. Prints one JSON object: what each
 * attack printed, and what the process itself could do.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEXT_MAX (64u << 10)

static char file[4096], other[4096], temporary[8192], kept[256];
static const char *content = "TOKEN-first\n", *at = file;
static char changed[4096];

static void put_text(const char *s)
{
	putchar('"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			printf("\\%c", *s);
		else if ((unsigned char)*s < 0x20 || (unsigned char)*s > 0x7e)
			printf("\\u%04x", (unsigned char)*s);
		else
			putchar(*s);
	}
	putchar('"');
}

static void put_entry(const char *name, const char *text)
{
	static int n;

	printf(n++ ? ", " : "{\"said\": {");
	put_text(name);
	printf(": ");
	put_text(text);
}

/* What is in the file, or why not. */
static const char *content_of(const char *path, char buf[256])
{
	int fd = open(path, O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, 255);

	if (n < 0)
		snprintf(buf, 256, "%s", strerror(errno));
	else
		buf[n] = '\0';
	close(fd);
	return buf;
}

static int put_content(const char *path, const char *text, int flags)
{
	int fd = open(path, O_WRONLY | O_CREAT | flags, 0600);
	ssize_t n = fd < 0 ? -1 : write(fd, text, strlen(text));

	close(fd);
	return n == (ssize_t)strlen(text);
}

/* What an attack changed is put back, for the next, and noted. */
static void mend(const char *name)
{
	char now[256];
	size_t n = strlen(changed);

	if (strcmp(content_of(at, now), content) == 0)
		return;
	snprintf(changed + n, sizeof(changed) - n, "%s\"%s\"", n ? ", " : "",
		 name);
	if (system("rm -rf ~/other; mkdir -p \"$DIR\"; rm -f \"$AT\"") != 0 ||
	    !put_content(at, content, O_TRUNC))
		fprintf(stderr, "%s is not mended\n", name);
}

static void tries(const char *name, const char *command)
{
	static char all[2 * TEXT_MAX], text[TEXT_MAX];
	FILE *f;

	snprintf(all, sizeof(all), "{ %s ; } 2>&1", command);
	fflush(stdout);
	f = popen(all, "r");
	text[f ? fread(text, 1, sizeof(text) - 1, f) : 0] = '\0';
	if (f)
		pclose(f);
	put_entry(name, text);
	mend(name);
}

static void run_attacks(void)
{
	static char line[TEXT_MAX];
	FILE *f = fopen("attacks", "r");
	char *command;

	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		command = strchr(line, '\t');
		if (!command)
			continue;
		*command++ = '\0';
		tries(line, command);
	}
	if (f)
		fclose(f);
}

static void set_variables(void)
{
	const char *home = getenv("HOME");
	char dir[2048], text[64], again[8192], here[2048], self[2048] = "";

	snprintf(dir, sizeof(dir), "%s/.claude", home);
	snprintf(file, sizeof(file), "%s/.credentials.json", dir);
	snprintf(temporary, sizeof(temporary), "%s.tmp", file);
	snprintf(other, sizeof(other), "%s/aside", home);
	content_of(file, kept);
	snprintf(text, sizeof(text), "%d", getpid());
	setenv("ME", text, 1);
	snprintf(text, sizeof(text), "%d", open(file, O_RDONLY));
	setenv("FD", text, 1);
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		perror("/proc/self/exe");
	snprintf(again, sizeof(again), "%s --read %s", self, file);
	setenv("AGAIN", again, 1);
	setenv("FILE", file, 1);
	setenv("AT", file, 1);
	setenv("DIR", dir, 1);
	setenv("HERE", getcwd(here, sizeof(here)) ? here : ".", 1);
}

/* Without the line's end, as the other agent has it. */
static char *trimmed(char *s)
{
	size_t n = strlen(s);

	if (n > 0 && s[n - 1] == '\n')
		s[n - 1] = '\0';
	return s;
}

struct own {
	char reads[256], rewrites[256], refreshes[256], removes[256],
		aside[256], back[256];
};

static void do_own(struct own *own)
{
	if (put_content(temporary, "TOKEN-new\n", O_TRUNC) &&
	    rename(temporary, file) == 0)
		trimmed((char *)content_of(file, own->rewrites));
	content = "TOKEN-new\n";
	tries("cat of the new one", "cat $FILE");
	if (put_content(file, "TOKEN-newer\n", O_TRUNC) &&
	    put_content(file, "more\n", O_APPEND) && chmod(file, 0600) == 0)
		trimmed((char *)content_of(file, own->refreshes));
	if (unlink(file) == 0 && put_content(file, "TOKEN-last\n", O_TRUNC))
		trimmed((char *)content_of(file, own->removes));
	content = "TOKEN-last\n";
	if (rename(file, other) == 0)
		trimmed((char *)content_of(other, own->aside));
	at = other;
	setenv("AT", other, 1);
	tries("cat of what was moved", "cat ~/aside");
	snprintf(own->back, sizeof(own->back), "%s",
		 rename(other, file) == 0 ? "done" : strerror(errno));
}

static void put_own(const struct own *own)
{
	const char *const all[][2] = {
		{"reads", own->reads},	       {"rewrites", own->rewrites},
		{"refreshes", own->refreshes}, {"removes", own->removes},
		{"moves aside", own->aside},   {"moves back", own->back}};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		printf("%s\"%s\": ", i ? ", " : "", all[i][0]);
		put_text(all[i][1]);
	}
}

int main(int argc, char **argv)
{
	static struct own own;
	char text[256];

	signal(SIGUSR1, SIG_IGN); /* which tools send, where none refuses it */
	if (argc == 3 && strcmp(argv[1], "--read") == 0)
		return puts(content_of(argv[2], text)) < 0;
	set_variables();
	snprintf(own.reads, sizeof(own.reads), "%s", kept);
	trimmed(own.reads);
	run_attacks();
	do_own(&own);
	at = file;
	tries("SIGUSR1", "kill -USR1 $ME");
	tries("SIGUSR1 by a descriptor", "python3 $HERE/attack.py sigio $ME");
	printf("}, \"own\": {");
	put_own(&own);
	printf("}, \"changed\": [%s]}\n", changed);
	return 0;
}
