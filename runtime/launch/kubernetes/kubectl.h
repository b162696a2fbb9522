/*
 * Runs of kubectl, the user's own: its kubeconfig, its ways to log in and its
 * proxies are its business. It gets an argument vector, never a shell; input is
 * a file without a name.
 *
 * kubectl: https://kubernetes.io/docs/reference/kubectl/, 1.20 and later.
 */
#ifndef RUNTIME_LAUNCH_KUBERNETES_KUBECTL_H
#define RUNTIME_LAUNCH_KUBERNETES_KUBECTL_H

#include "compiler/base/arena.h"
#include "compiler/base/buf.h"
#include "compiler/base/err.h"
#include "compiler/base/str.h"
#include "compiler/base/sys/proc.h"
#include "runtime/launch/kubernetes/lines.h"

#define KUBECTL_WORDS_MAX     32u	    /* behind those of struct kubectl */
#define KUBECTL_TEXT_MAX      (256u << 20) /* bytes of one answer */
#define KUBECTL_COMPLAINT_MAX 4096u	    /* of what it says on stderr */

/* Which cluster, and where in it; empty: what the kubeconfig says. */
struct kubectl {
	struct str context, ns;
};

struct kubectl_call {
	const char *const *words; /* the subcommand and on; NULL at the end */
	struct str input;	  /* empty: nothing */
	int timeout_ms;		  /* -1: as long as it takes */
	/* Has its output by lines, as it comes; or NULL: it is kept in text. */
	lines_fn *on_line;
	void *ctx;
	/* What came of it. */
	struct str text, complaint; /* the arena's; complaint: bounded */
	int status;		    /* its exit status, as a shell has it */
};

/*
 * Start one that goes on. o: its streams and group; its words are set here.
 *   -ENOENT  there is no kubectl
 */
must_check int kubectl_start(struct arena *a, const struct kubectl *k,
			     const char *const *words, struct proc_opts *o,
			     pid_t *out_pid, struct err *err);
/* The whole vector, NULL at the end. */
char **kubectl_vector(struct arena *a, const struct kubectl *k,
		      const char *const *words);
/*
 * Run it. A status other than 0 is no error here: see kubectl_fault().
 *   -ENOENT     there is no kubectl
 *   -EFBIG      it printed more than KUBECTL_TEXT_MAX; it was killed
 *   -ETIMEDOUT  it was killed
 *   what on_line said: it was killed
 */
must_check int kubectl_run(struct arena *a, const struct kubectl *k,
			   struct kubectl_call *c, struct err *err);
/* The same where it has to succeed: else -EREMOTEIO, as kubectl_fault(). */
must_check int kubectl_do(struct arena *a, const struct kubectl *k,
			  struct kubectl_call *c, struct err *err);
/* One more part of it. The end is what counts: the beginning makes room. */
void kubectl_complain(struct buf *complaint, struct str part);
/* What of it says most; or nothing. */
struct str kubectl_last_line(struct str complaint);
/* -EREMOTEIO with kubectl's own words: the last line of its complaint. */
int kubectl_fault(const struct kubectl_call *c, struct err *err);

#endif
