/*
 * Which system call a task is in, and with which arguments: whatever numbers it
 * goes by, those of 32-bit programs and of x32 too, it is the machine's own
 * call to everything else here.
 *
 * A part of watch.bpf.c. Any program can use any of the numbers: int $0x80 is
 * there for 64-bit programs, too.
 */
#define TS_COMPAT    2
#define X32_BIT	     0x40000000u
#define NO_CALL	     0xffffffffu /* behind a signal handler */
#define PSR_MODE     0x1f /* of Arm: the state that a 32-bit program runs in */
#define PSR_MODE_32  0x10
#define ARM_PRIVATE  0x0f0000u
#define ARM_PRIVATES 0x800u

struct call {
	__u32 nr;      /* the machine's own; WATCH_CALLS_MAX: it has none */
	__u32 flags;   /* enum watch_head_flags */
	bool harmless; /* none of its own, and none is needed */
	__u64 args[6];
};

/* Of the system call that a task is in; t: as the kernel gave it. */
static __always_inline struct pt_regs *regs_of(struct task_struct *t)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(t);

	return PLAIN(regs);
}

/* The kernel looks at 32 bits; the register may have more of them. */
static __always_inline __u32 raw_number(struct pt_regs *regs)
{
#ifdef __TARGET_ARCH_x86
	return (__u32)regs->orig_ax;
#else
	return (__u32)regs->syscallno;
#endif
}

static __always_inline __u64 call_ip(struct pt_regs *regs)
{
#ifdef __TARGET_ARCH_x86
	return regs->ip;
#else
	return regs->pc;
#endif
}

static __always_inline bool is_compat(struct task_struct *t,
				      struct pt_regs *regs)
{
#ifdef __TARGET_ARCH_x86
	return t->thread_info.status & TS_COMPAT;
#else
	return (regs->pstate & PSR_MODE) == PSR_MODE_32;
#endif
}

/* What 32-bit Arm programs ask of the processor: to flush a cache, where the
 * data of a thread is. */
static __always_inline bool is_private(__u32 nr)
{
#ifdef __TARGET_ARCH_x86
	return false;
#else
	return (nr & ~(ARM_PRIVATES - 1)) == ARM_PRIVATE;
#endif
}

/* The arguments as they were when the call was made. */
static __always_inline void own_args(struct pt_regs *regs, __u64 args[6])
{
#ifdef __TARGET_ARCH_x86
	args[0] = regs->di;
	args[1] = regs->si;
	args[2] = regs->dx;
	args[3] = regs->r10;
	args[4] = regs->r8;
	args[5] = regs->r9;
#else
	args[0] = regs->orig_x0;
	args[1] = regs->regs[1];
	args[2] = regs->regs[2];
	args[3] = regs->regs[3];
	args[4] = regs->regs[4];
	args[5] = regs->regs[5];
#endif
}

static __always_inline void compat_args(struct pt_regs *regs, __u64 args[6])
{
#ifdef __TARGET_ARCH_x86
	args[0] = (__u32)regs->bx;
	args[1] = (__u32)regs->cx;
	args[2] = (__u32)regs->dx;
	args[3] = (__u32)regs->si;
	args[4] = (__u32)regs->di;
	args[5] = (__u32)regs->bp;
#else
	own_args(regs, args);
	for (int i = 0; i < 6; i++)
		args[i] = (__u32)args[i];
#endif
}

static __always_inline __u64 call_arg(const struct call *c, __u32 n)
{
	switch (n) {
	case 0:
		return c->args[0];
	case 1:
		return c->args[1];
	case 2:
		return c->args[2];
	case 3:
		return c->args[3];
	case 4:
		return c->args[4];
	case 5:
		return c->args[5];
	}
	return 0;
}

/* --- of 32-bit programs --------------------------------------------------- */

/* Which call it is stands in a register, what with in memory. */
static __always_inline void read_socketcall(struct call *c)
{
	const volatile struct watch_foreign *f =
		&config.sockets[c->args[0] & (WATCH_SOCKETCALLS - 1)];
	__u32 from[6] = {0};

	c->nr = WATCH_CALLS_MAX;
	if (c->args[0] >= WATCH_SOCKETCALLS)
		return;
	c->nr = f->nr;
	bpf_probe_read_user(from, sizeof(from), (const void *)c->args[1]);
	for (int i = 0; i < 6; i++)
		c->args[i] = i < f->shape ? from[i] : 0;
}

static __always_inline __u64 wide_id(__u64 id)
{
	return (__u16)id == 0xffff ? 0xffffffff : (__u16)id;
}

static __always_inline void reshape(struct call *c, __u8 shape)
{
	switch ((enum watch_shape)shape) {
	case WATCH_SAME:
		return;
	case WATCH_PAIR_1:
		c->args[1] |= c->args[2] << 32;
		return;
	case WATCH_PAIR_2:
		c->args[1] = c->args[2] | c->args[3] << 32;
		return;
	case WATCH_ONE:
		c->args[1] = 0;
		return;
	case WATCH_OLD_IDS:
		c->args[1] = wide_id(c->args[1]);
		c->args[2] = wide_id(c->args[2]);
		return;
	case WATCH_SOCKETCALL:
		read_socketcall(c);
		return;
	}
}

/* --- of any program ------------------------------------------------------- */

/* Below WATCH_CALLS_MAX: the verifier does not see it everywhere. */
static __always_inline const volatile struct watch_call *how_of(__u32 nr)
{
	asm volatile("" : "+r"(nr));
	return &config.calls[nr & (WATCH_CALLS_MAX - 1)];
}

static __always_inline const volatile struct watch_foreign *foreign_at(__u32 at)
{
	asm volatile("" : "+r"(at));
	return &config.foreign[at & (WATCH_FOREIGN - 1)];
}

/* Can it be one of the calls that are traced, by whatever numbers it goes? */
static __always_inline bool may_be_traced(__u32 nr)
{
	return nr >= WATCH_NUMBERS || how_of(nr)->how != WATCH_SKIP ||
	       foreign_at(nr)->traced;
}

/* Another set of numbers says which call it is. */
static __always_inline void translate(struct call *c, __u32 at)
{
	const volatile struct watch_foreign *f;

	c->nr = WATCH_CALLS_MAX;
	if (at >= WATCH_FOREIGN)
		return;
	f = foreign_at(at);
	c->nr = f->nr;
	c->harmless = f->known;
	if (f->narrow)
		c->flags |= WATCH_NARROW;
	reshape(c, f->shape);
}

static __always_inline void call_read(struct call *c, struct task_struct *t,
				      struct pt_regs *regs)
{
	__u32 nr = raw_number(regs);

	c->harmless = false;
	c->flags = WATCH_COMPAT;
	if (is_compat(t, regs)) {
		compat_args(regs, c->args);
		translate(c, nr < WATCH_NUMBERS ? nr : WATCH_FOREIGN);
		c->harmless = c->harmless || is_private(nr);
		return;
	}
	own_args(regs, c->args);
	c->nr = nr & ~X32_BIT;
	if (c->nr == nr)
		c->flags = 0;
	else if (c->nr >= WATCH_X32)
		translate(c, c->nr);
	if (c->nr >= WATCH_NUMBERS && !c->flags)
		c->nr = WATCH_CALLS_MAX;
}

/* The kernel knows that number, and we do not. */
static __always_inline void count_unknown(const struct call *call, long ret)
{
	struct watch_counts *c = counted();

	if (c && ret != -ENOSYS && !call->harmless)
		c->unknown++;
}
