#include "compiler/driver.h"
#include "compiler/emit/emit.h"
#include "compiler/passes/args.h"
#include "compiler/passes/trace.h"
#include "runtime/launch/launch.h"
#define W __attribute__((weak))
W int front_load(struct pass_ctx *c, struct sources *s, const struct front_input *in, docs *out, bool *ok, struct err *err){
 (void)c;(void)s;(void)in;(void)err;(void)out;*ok=true;return 0;}
W bool args_resolve(struct pass_ctx *c, struct ir_policy *p){(void)c;(void)p;return true;}
W bool args_check_env(struct pass_ctx *c, const struct ir_policy *p, args_env e){(void)c;(void)p;(void)e;return true;}
W bool trace_expand(struct pass_ctx *c, struct ir_policy *p){(void)c;(void)p;return true;}
W bool passes_conflicts(struct pass_ctx *c, const struct ir_policy *p){(void)c;(void)p;return true;}
W bool passes_enforceable(struct pass_ctx *c, const struct ir_policy *p){(void)c;(void)p;return true;}
W void passes_additions(struct pass_ctx *c, const docs *d, ir_texts *o){(void)c;(void)d;(void)o;}
static bool pol(const struct emit_in *in, struct buf *b){(void)in;buf_adds(b,"{}\n");return true;}
static const struct emitter E[]={{"policy","policy.json",pol,NULL},{"ruleset","ruleset.nft",pol,NULL}};
W const struct emitter *emitter_at(size_t i){return i<2?&E[i]:NULL;}
W bool emit_all(const struct emit_in *in, struct plan *p){(void)in;plan_add(in->a,p,STR("policy.json"),STR("{}\n"));return true;}
W int launch_run(const struct launch_opts *o, struct err *err){(void)o;(void)err;return 0;}
W int launch_reset(const char *s,const char *w,unsigned *n,struct err *err){(void)s;(void)w;(void)err;*n=0;return 0;}
