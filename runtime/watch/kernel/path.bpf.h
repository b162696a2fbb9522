/*
 * Texts and paths, as items of a message: from the kernel's own objects, or as
 * a process said them.
 *
 * A part of watch.bpf.c.
 */
static __always_inline void put_user_text(struct message *m, __u8 part,
					  const void *from)
{
	struct watch_item *i = item(m, WATCH_TEXT, part);
	long n;

	if (!i)
		return;
	n = bpf_probe_read_user_str(room(m), 4096, from);
	if (n > 0 && n <= 4096)
		grow(m, i, (__u32)n);
}

static __always_inline void put_kernel_text(struct message *m, __u8 tag,
					    __u8 part, const void *from)
{
	struct watch_item *i = item(m, tag, part);
	long n;

	if (!i)
		return;
	n = bpf_probe_read_kernel_str(room(m), 4096, from);
	if (n > 0 && n <= 4096)
		grow(m, i, (__u32)n);
}

struct walk {
	struct message *m;
	struct dentry *dentry, *root; /* root: of the mount */
	struct mount *mount;
	bool named; /* bytes would have the verifier follow every step */
	__u32 bytes;
};

/* One step towards the root: a component, or from a mount to what it is on. */
static long step(__u64 n, struct walk *w)
{
	struct mount *mount = w->mount, *up;
	struct dentry *d = w->dentry, *parent;
	struct message *m = w->m;
	const unsigned char *name;
	long got;

	if (d == w->root) {
		up = GET(mount, mnt_parent);
		if (up == mount)
			return 1;
		w->dentry = GET(mount, mnt_mountpoint);
		w->mount = up;
		w->root = GET(up, mnt.mnt_root);
		return 0;
	}
	parent = GET(d, d_parent);
	/* A file that is in no folder (memfd_create) has a name all the same.
	 */
	if ((parent == d && w->named) || m->head.bytes >= WATCH_ITEMS_MAX - 256)
		return 1;
	name = GET(d, d_name.name);
	got = bpf_probe_read_kernel_str(&m->items[masked(m->head.bytes)], 256,
					name);
	if (got <= 0 || got > 256)
		return 1;
	m->head.bytes += (__u32)got;
	w->bytes += (__u32)got;
	w->named = true;
	w->dentry = parent;
	return parent == d;
}

static __always_inline struct mount *mount_of(__u64 mnt)
{
	return (struct mount *)(mnt - bpf_core_field_offset(struct mount, mnt));
}

/*
 * Global, so that it is verified once. Only numbers may be passed; the message
 * is found again.
 */
__noinline int put_path(__u64 dentry, __u64 mnt, __u32 tag, __u32 part,
			__u32 slot)
{
	struct message *m = bpf_map_lookup_elem(&scratch, &slot);
	struct walk w = {.m = m, .dentry = (struct dentry *)dentry};
	struct mount *mount = mount_of(mnt);
	struct watch_item *i;
	__u32 at;

	if (!m || !dentry || !mnt)
		return 0;
	at = m->head.bytes;
	if (!item(m, (__u8)tag, (__u8)part))
		return 0;
	w.mount = mount;
	w.root = GET(mount, mnt.mnt_root);
	/* Mounts are steps of their own. */
	bpf_loop(WATCH_DEPTH, step, &w, 0);
	i = (struct watch_item *)&m->items[masked(at)];
	i->bytes = (__u16)w.bytes;
	return 0;
}

static __always_inline void put_path_of(struct message *m, struct path *p,
					__u8 tag, __u8 part)
{
	/* Behind memory a pointer is a number to the verifier. */
	m->dentry = (__u64)GET(p, dentry);
	m->mnt = (__u64)GET(p, mnt);
	put_path(m->dentry, m->mnt, tag, part, m->slot);
}

/* Of an entry in a directory that is reached through a mount. */
static __always_inline void put_entry(struct message *m, struct path *dir,
				      struct dentry *d, __u8 part)
{
	m->dentry = (__u64)d;
	m->mnt = (__u64)GET(dir, mnt);
	put_path(m->dentry, m->mnt, WATCH_PATH, part, m->slot);
}

static __always_inline struct file *file_at(struct task_struct *t, __u64 fd)
{
	struct fdtable *fdt = t->files->fdt;
	struct file **table, *f = NULL;

	if (!fdt || fd >= fdt->max_fds || fd >= FDS_MAX)
		return NULL;
	table = fdt->fd;
	bpf_probe_read_kernel(&f, sizeof(f), &table[fd]);
	return f;
}

/* A namespace's file is in no folder, and is called after its kind. */
static __always_inline void put_kind(struct message *m, struct file *f,
				     struct inode *inode)
{
	struct dentry *d = GET(f, f_path.dentry);
	struct ns_common *ns;

	if (GET(d, d_parent) != d || GET(inode, i_sb, s_magic) != NSFS_MAGIC)
		return;
	ns = GET(inode, i_private);
	put_kernel_text(m, WATCH_TEXT, WATCH_KIND, GET(ns, ops, name));
}

static __always_inline void put_file(struct message *m, struct file *f)
{
	struct watch_item *i = item(m, WATCH_FILE, WATCH_FIRST);
	struct watch_file *out;
	struct inode *inode = GET(f, f_inode);

	if (!i)
		return;
	out = room(m);
	out->inode = GET(inode, i_ino);
	out->dev = GET(inode, i_sb, s_dev);
	out->mode = GET(inode, i_mode);
	out->ctime_ns = 0;
	grow(m, i, sizeof(*out));
	put_kind(m, f, inode);
}

/* That of the mount namespace, or what is mounted on that one's. */
static __always_inline bool is_everybodys(struct path *root)
{
	struct vfsmount *mnt = GET(root, mnt);
	struct mount *m = mount_of((__u64)mnt), *up = GET(m, mnt_parent);

	if (GET(root, dentry) != GET(mnt, mnt_root))
		return false;
	return up == m || (GET(up, mnt_parent) == up &&
			   GET(m, mnt_mountpoint) == GET(up, mnt.mnt_root));
}

/* What a relative path is relative to, or an absolute one: a root of one's
 * own counts, which no '..' leads above. */
static __always_inline void put_base(struct message *m, struct task_struct *t,
				     __s64 dir, char first, __u8 part)
{
	struct fs_struct *fs = t->fs;
	struct path *root = &fs->root;
	struct file *f;

	if (first != '/' && !is_everybodys(root))
		put_path_of(m, root, WATCH_PATH, WATCH_ROOT);
	if (first == '/') {
		put_path_of(m, root, WATCH_BASE, part);
	} else if ((int)dir == AT_FDCWD) {
		put_path_of(m, &fs->pwd, WATCH_BASE, part);
	} else {
		f = file_at(t, (__u32)dir);
		if (f)
			put_path_of(m, &f->f_path, WATCH_BASE, part);
	}
}

static __always_inline void put_relative(struct message *m,
					 struct task_struct *t, __s64 dir,
					 const char *text, __u8 part)
{
	char first = 0;

	bpf_probe_read_user(&first, 1, text);
	put_base(m, t, dir, first, part);
	put_user_text(m, part, text);
}

/* The kernel's own copy of a path that was asked for. */
static __always_inline void put_name(struct message *m, struct task_struct *t,
				     __s64 dir, struct filename *from,
				     __u8 part)
{
	const char *text = GET(from, name);
	char first = 0;

	bpf_probe_read_kernel(&first, 1, text);
	put_base(m, t, dir, first, part);
	put_kernel_text(m, WATCH_TEXT, part, text);
}
