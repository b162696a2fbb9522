/*
 * What is made of a plan for Kubernetes: how large it may be, what is applied
 * in which order, and that of a policy that is refused nothing comes.
 */
#include "compiler/plan/files.h"
#include "tests/unit/emit/kube.h"

static struct arena *a;

#define BYTES_MAX ((1u << 20) - 4096u) /* of all that the gate reads */

/* A plan whose files, with the manifest, are so many bytes: the largest has
 * what is left. */
static void fill_plan(struct kube_rig *t, struct plan *made, size_t bytes)
{
	struct str none = STR("");
	struct plan sealed;
	char digest[SHA256_HEX_MAX];
	size_t n = 0;
	char *text;

	*made = (struct plan){0};
	plan_add(t->c.a, made, STR(PLAN_NAMES), none);
	plan_add(t->c.a, made, STR(PLAN_RULESET), none);
	/* no file of the gate's */
	plan_add(t->c.a, made, STR(PLAN_DOCKER), STR("docker"));
	t->c.in.made = made;
	CHECK(kube_plan(&t->c.in, &sealed, digest));
	CHECK(!plan_file(&sealed, PLAN_DOCKER) &&
	      plan_file(&sealed, PLAN_NAMES) &&
	      plan_file(&sealed, PLAN_RULESET));
	vec_each(f, &sealed.files)
		n += f->data.n;
	text = arena_alloc(t->c.a, bytes);
	memset(text, 'x', bytes);
	made->files.v[1].data = (struct str){text, bytes - n};
}

static const struct {
	const char *name;
	bool (*emit)(const struct emit_in *, struct buf *);
} emitters[] = {
	{"admission", kube_admission_emit}, {"pod", kube_pod_emit},
	{"configmap", kube_configmap_emit}, {"cilium", kube_cilium_emit},
	{"network", kube_network_emit},	    {"gate", kube_gate_emit},
};

/* Each of them refuses a plan that is too large, and one says so. */
static void check_size(size_t bytes, bool fits)
{
	struct kube_rig t;
	struct plan made, sealed;
	char digest[SHA256_HEX_MAX];
	struct kube_objects objects;

	kube_rig_body(&t, a, "");
	t.options.n_gate_at = 1;
	t.options.gate_at[0].family = ADDR_V4;
	fill_plan(&t, &made, bytes);
	CHECK(kube_plan(&t.c.in, &sealed, digest) == fits);
	for (size_t i = 0; i < ARRAY_LEN(emitters); i++) {
		struct buf out;

		buf_init(&out, t.c.a);
		CHECK_MSG(emitters[i].emit(&t.c.in, &out) == fits, "%s",
			  emitters[i].name);
	}
	CHECK(kube_objects(&t.c.in, &objects) == fits);
	CHECK(fits ? objects.all.n == 3 : objects.all.n == 0);
	CHECK(t.c.in.diags->errors == !fits);
	kube_rig_done(&t);
}

/* What is said names the largest: of two that are as large, the first. */
static void largest(void)
{
	struct kube_rig t;
	struct plan made;
	struct diag_view v;
	struct buf out;

	kube_rig_body(&t, a, "");
	fill_plan(&t, &made, BYTES_MAX);
	made.files.v[2].data = made.files.v[1].data;
	buf_init(&out, t.c.a);
	CHECK(!kube_configmap_emit(&t.c.in, &out));
	CHECK(diags_get(t.c.in.diags, 0, &v) && v.id == DIAG_POD);
	CHECK(memmem(v.text.p, v.text.n, " names.map alone has ", 21));
	CHECK(v.help.n);
	kube_rig_done(&t);
}

/* "ConfigMap NetworkPolicy Pod+", '+' where Pods come of a template. */
static void check_objects(struct kube_options options, const char *wanted)
{
	struct kube_objects objects;
	struct kube_rig t;
	struct plan made;
	struct buf b;

	kube_rig_body(&t, a, "");
	options.name = t.options.name;
	options.gate_image = t.options.gate_image;
	t.options = options;
	fill_plan(&t, &made, 5000);
	CHECK(kube_objects(&t.c.in, &objects));
	buf_init(&b, t.c.a);
	vec_each(o, &objects.all) {
		buf_addf(&b, "%s%.*s%s", b.n ? " " : "",
			 STR_ARG(kube_rig_text(o->object, "kind")),
			 o->template ? "+" : "");
		if (o->template)
			CHECK(kube_tree_get(o->template, "spec"));
	}
	check_same(wanted, buf_keep(&b), wanted);
	/* the trees live on, as long as the arena does */
	CHECK(str_ends(kube_rig_text(kube_tree_get(objects.all.v[0].object,
						   "metadata"),
				     "name"),
		       str_of(objects.digest)));
	kube_rig_done(&t);
}

/* Of these files, those that there are: "ruleset.nft pod.yaml". */
static void check_files(struct kube_options options, const char *wanted)
{
	static const char *const files[] = {
		PLAN_RULESET,	PLAN_DOCKER,	PLAN_KUBERNETES,
		PLAN_POD,	PLAN_CONFIGMAP, PLAN_NETWORKPOLICY,
		PLAN_ADMISSION, PLAN_GATE_POD,	PLAN_CILIUM,
	};
	struct plan plan = {0};
	struct kube_rig t;
	struct buf b;

	kube_rig_body(&t, a, "allow: [a.example.com:443]\n");
	options.name = t.options.name;
	options.gate_image = t.options.gate_image;
	t.options = options;
	CHECK(emit_all(&t.c.in, &plan));
	buf_init(&b, t.c.a);
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		if (plan_file(&plan, files[i]))
			buf_addf(&b, "%s%s", b.n ? " " : "", files[i]);
	check_same(wanted, buf_keep(&b), wanted);
	kube_rig_done(&t);
}

static void files_of_kinds(void)
{
	struct kube_options apart = {.topology = KUBE_APART, .n_gate_at = 1};

	apart.gate_at[0].family = ADDR_V4;
	check_files((struct kube_options){0},
		    "ruleset.nft kubernetes.json pod.yaml configmap.yaml"
		    " networkpolicy.yaml admission.yaml");
	check_files((struct kube_options){.cilium = true},
		    "ruleset.nft kubernetes.json pod.yaml configmap.yaml"
		    " networkpolicy.yaml admission.yaml"
		    " ciliumnetworkpolicy.yaml");
	check_files(apart, "kubernetes.json pod.yaml configmap.yaml"
			   " networkpolicy.yaml gate.yaml");
}

/* What is refused of the files that are there refuses all of them. */
static void refused_late(void)
{
	struct plan plan = {0};
	struct kube_rig t;
	struct buf b;
	char path[1500];

	memset(path, 'x', sizeof(path));
	buf_init(&b, a);
	buf_adds(&b, "allow: [{dest: a.test, http: [{paths: [");
	for (unsigned i = 0; i < 250; i++)
		buf_addf(&b, "/%u%.*s, ", i, (int)sizeof(path), path);
	buf_adds(&b, "/]}]}]\n");
	kube_rig_body(&t, a, buf_keep(&b).p);
	CHECK(!emit_all(&t.c.in, &plan));
	CHECK(plan_file(&plan, PLAN_KUBERNETES) && !plan_file(&plan, PLAN_POD));
	kube_rig_done(&t);
}

static void objects_of_kinds(void)
{
	struct kube_options apart = {.topology = KUBE_APART, .n_gate_at = 1};

	apart.gate_at[0].family = ADDR_V4;
	check_objects((struct kube_options){0}, "ConfigMap NetworkPolicy Pod");
	check_objects((struct kube_options){.kind = KUBE_JOB, .cilium = true},
		      "ConfigMap CiliumNetworkPolicy Job+");
	check_objects((struct kube_options){.kind = KUBE_DEPLOYMENT},
		      "ConfigMap NetworkPolicy Deployment+");
	check_objects((struct kube_options){.kind = KUBE_SANDBOX},
		      "ConfigMap NetworkPolicy Sandbox+");
	check_objects(
		(struct kube_options){.kind = KUBE_TEMPLATE},
		"ConfigMap NetworkPolicy SandboxTemplate+ SandboxWarmPool");
	check_objects(apart, "ConfigMap NetworkPolicy NetworkPolicy Service "
			     "Deployment+ Pod");
}

/* What `run` applies: three documents, the Pod's in the session's name. */
static void applied(void)
{
	static char *const none[] = {NULL};
	const struct kube_run run = {.id = STR("abc"), .command = none};
	struct kube_applied out = {0};
	struct kube_rig t;
	struct plan made;
	struct str rest, line;
	struct buf kinds;

	kube_rig_body(&t, a, "");
	t.options.run = &run;
	fill_plan(&t, &made, 5000);
	CHECK(kube_run_emit(&t.c.in, &out));
	CHECK(str_is(out.name, "agent-abc"));
	buf_init(&kinds, t.c.a);
	for (rest = out.text; str_line(&rest, &line);)
		if (str_starts(line, STR("kind:")) || str_is(line, "---"))
			buf_addf(&kinds, "%.*s\n", STR_ARG(line));
	check_same(
		"applied", buf_keep(&kinds),
		"kind: ConfigMap\n---\nkind: NetworkPolicy\n---\nkind: Pod\n");
	fill_plan(&t, &made, BYTES_MAX + 1);
	out = (struct kube_applied){0};
	CHECK(!kube_run_emit(&t.c.in, &out) && !out.text.n);
	kube_rig_done(&t);
}

/* Neither causes nor what the gate is told come of a policy that is refused. */
static void refused(void)
{
	struct kube_rig t;
	struct buf out;

	kube_rig_body(&t, a, "ssh_agent: true\n");
	buf_init(&out, t.c.a);
	CHECK(!kube_fields(&t.c.in));
	CHECK(!kube_json_emit(&t.c.in, &out) && !out.n);
	CHECK(t.c.in.diags->errors == 1);
	kube_rig_done(&t);
}

/* The list of plans has this one, and keys of a Secret where there are any. */
static void admitted(void)
{
	static const char *const policies[] = {
		"",
		"allow: [a.example.com:443]\ncredentials:\n"
		"  - {host: a.example.com, header: X, from_env: T, format: \"{}\"}\n"
		"  - {host: a.example.com, header: Y, from_env: U, format: \"{}\"}\n",
	};
	static const char *const wanted[] = {
		"membrane-plan-0123=gate\n",
		"credentials-0123=1=T,2=U\nmembrane-plan-0123=gate\n",
	};

	for (size_t i = 0; i < ARRAY_LEN(policies); i++) {
		const struct kube_node *data;
		struct kube_rig t;
		struct kube k;
		struct buf b;

		kube_rig_body(&t, a, policies[i]);
		k = kube_begin(&t.c.in, "0123");
		data = kube_tree_get(kube_admission_tree(&k), "data");
		CHECK(str_is(
			kube_rig_text(kube_tree_get(kube_admission_tree(&k),
						    "metadata"),
				      "namespace"),
			"membrane-system"));
		buf_init(&b, t.c.a);
		vec_each(n, &data->items)
			buf_addf(&b, "%s=%.*s\n", (*n)->key,
				 STR_ARG((*n)->text));
		check_same(policies[i], buf_keep(&b), wanted[i]);
		kube_rig_done(&t);
	}
}

int main(void)
{
	a = arena_new();
	check_size(BYTES_MAX, true);
	check_size(BYTES_MAX + 1, false);
	largest();
	objects_of_kinds();
	files_of_kinds();
	refused_late();
	applied();
	refused();
	admitted();
	arena_free(a);
	return check_status();
}
