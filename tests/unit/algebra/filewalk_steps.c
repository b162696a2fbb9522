/*
 * filewalk.c, compiled once more with a bound that a walk reaches at once: by
 * the places in patterns that it steps through, and by sets of bytes. The walk
 * of the program takes a second and more for that.
 */
#define LIMIT_FILE_STEPS 1000u

#define filewalk_new  steps_new
#define filewalk_run  steps_run
#define filewalk_stop steps_stop
#define filewalk_path steps_path

#include "compiler/algebra/space/filewalk.c"

#include "tests/check.h"

static uint32_t want_all(void *ctx, struct filewalk *w,
			 const struct filewalk_end *e)
{
	(void)ctx;
	(void)w;
	(void)e;
	return 1;
}

/* One pattern so often; and whether all paths are walked. */
static const struct {
	const char *line;
	unsigned times;
	bool whole;
} walks[] = {
	{"a", 1, true},
	{"a", 10, true},
	{"a", 1000, false},
	/* a set costs more than a byte that is written out */
	{"*b", 20, true},
	{"*[b]", 20, false},
};

int main(void)
{
	for (size_t i = 0; i < ARRAY_LEN(walks); i++) {
		struct arena *a = arena_new();
		struct gitignore *g = gitignore_new(a);
		const struct gitignore *list = g;
		struct filewalk *w;

		for (unsigned k = 0; k < walks[i].times; k++)
			CHECK(gitignore_add(g, str_of(walks[i].line), NULL) ==
			      GITIGNORE_OK);
		w = steps_new(a, &list, 1);
		CHECK_MSG(steps_run(w, want_all, NULL) == walks[i].whole,
			  "%u of %s: %u states, %u steps", walks[i].times,
			  walks[i].line, w->states.n, (unsigned)w->steps);
		arena_free(a);
	}
	return check_status();
}
