"""Sessions in Pods: `membrane run --target kubernetes` by the real kubectl, and
what reads a cluster: `logs --selector`, `check --cluster-state`."""
import contextlib
import json
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile

import yaml

import cluster
import live
from cluster import (APART, HERE, MEMBRANE, RESOLVER, Pod, check, enter,
                     kubectl, within)
from live import test
from terminal import Terminal

POLICY = "allow: ['site.test:443']\n"
SECRET = "credentials:\n  - {host: site.test, header: Authorization, from_env: KEY, " \
    "format: 'Bearer {}'}\n"
ASKED = "getent hosts site.test; getent hosts not.test; "


class Place:
    """A workspace that membrane is run in, within the node's namespaces."""

    def __init__(self, policy=POLICY, image=None):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="membrane-cluster-"))
        (self.folder / ".membrane.yaml").write_text(
            "image: %s\ndns_resolver: %s\n%s" % (
                image or cluster.node.images["agent"], RESOLVER, policy))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)

    def argv(self, *words):
        """As a user's shell would have it; its number is in the file pid."""
        return [str(HERE / "node"), "enter", "env",
                "MEMBRANE_HOME=%s/home" % self.folder, "sh", "-c",
                'cd "$1"; shift; echo $$ >pid; exec "$@"', "sh",
                str(self.folder), str(MEMBRANE), *words]

    def run_argv(self, *command, flags=()):
        return self.argv("run", "--trust-workspace", "--no-global-config",
                         "--target", "kubernetes", "--sidecar", "container",
                         "--gate-image", cluster.node.images["gate"], *flags,
                         "--", *command)

    def membrane(self, *words, **more):
        return subprocess.run(self.argv(*words), check=False, text=True,
                              capture_output=True, timeout=180 * live.SLOW,
                              **more)

    def run(self, *command, flags=(), **more):
        more.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.run(self.run_argv(*command, flags=flags), text=True,
                              check=False, capture_output=True,
                              timeout=180 * live.SLOW, **more)

    @contextlib.contextmanager
    def begun(self, command):
        """A session whose command has printed "up"."""
        with subprocess.Popen(self.run_argv("sh", "-c", "echo up; " + command),
                              text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as p:
            check(p.stdout.readline() == "up\n", "it begins")
            yield p

    def kill(self, word):
        enter("kill", "-" + word, (self.folder / "pid").read_text().strip())

    def crash(self):
        """No process of membrane's is left, as on a machine that stopped."""
        pid = (self.folder / "pid").read_text().strip()
        watchdog = enter("pgrep", "-P", pid, "-x", "membrane").stdout.split()
        enter("kill", "-KILL", *watchdog, pid)

    def session(self):
        """The ID of the one that it has."""
        return next((self.folder / "home/sessions").iterdir()).name

    def records(self, event):
        return [r for path in self.folder.glob(
                    "home/sessions/*/decisions.jsonl")
                for r in map(json.loads, path.read_text().splitlines())
                if r["event"] == event]


def of_sessions():
    """Pods and NetworkPolicies that sessions made."""
    return kubectl("get", "pods,networkpolicies", "-l", "membrane/session",
                   "-o", "name").stdout.split()


def left():
    """Once what is on its way out has gone."""
    within(60, lambda: not of_sessions())
    return of_sessions()


@test
def a_command_runs_in_a_pod():
    with Place() as where:
        done = where.run("sh", "-c", ASKED + "echo to stdout; exit 5")
        check(done.returncode == 5, "its status", done)
        check("to stdout" in done.stdout and "site.test" in done.stdout,
              "its output", done.stdout)
        check("refused not.test" in done.stderr, "refusals are told",
              done.stderr)
        names = {(r.get("name"), r["verdict"])
                 for r in where.records("decision")}
        check({("site.test", "allow"), ("not.test", "deny")} <= names,
              "decisions are on record", names)
        check("not.test" in where.membrane("logs").stdout, "logs shows them")
    check(not left(), "Pod and NetworkPolicy are gone", of_sessions())


@test
def what_is_typed_comes_in():
    with Place() as where:
        done = where.run("sh", "-c", "cat; exit 3", stdin=None,
                         input="typed\n")
        check(done.returncode == 3 and "typed" in done.stdout, "stdin", done)


@test
def a_terminal_is_the_commands():
    with Place() as where:
        with contextlib.closing(Terminal(where.run_argv(
                "sh", "-c", "tty; until stty size | grep -v '^0'; do sleep 0.1; done; "
                "read x; echo got $x; exit 7"))) \
                as t:
            check(t.shows(rb"/dev/pts/", 120), "it has one", t.all)
            check(t.shows(rb"37 91", 10), "of that size", t.all)
            t.type(b"word\r")
            check(t.shows(rb"got word", 20), "it reads", t.all)
            check(t.ends(120) == 7, "its status", t.all)


@test
def sessions_side_by_side():
    with Place() as one, Place() as other, \
            one.begun("sleep 5; exit 1") as a, other.begun("exit 2") as b:
        out = one.membrane("ps").stdout
        check("kubernetes" in out.lower(), "ps says where", out)
        said = b.communicate(timeout=180)
        check(b.returncode == 2, "the one", said)
        said = a.communicate(timeout=180)
        check(a.returncode == 1, "the other goes on", said)
    check(not left(), "nothing is left", of_sessions())


@test
def signals_end_it():
    for word in ("INT", "TERM"):
        with Place() as where, where.begun("sleep infinity") as p:
            where.kill(word)
            said = p.communicate(timeout=180)
            check(p.returncode == 128 + getattr(signal, "SIG" + word),
                  "by SIG" + word, (p.returncode, said))
        check(not left(), "nothing is left of SIG" + word, of_sessions())


@test
def stop_ends_it():
    with Place() as where, where.begun("sleep infinity") as p:
        done = where.membrane("stop", "--timeout", "1", where.session())
        said = p.communicate(timeout=180)
        check(done.returncode == 0 and p.returncode == 143, "stopped",
              (done, p.returncode, said))
    check(not left(), "nothing is left", of_sessions())


@test
def a_launcher_that_is_killed_leaves_nothing():
    with Place() as where, where.begun("sleep infinity") as p:
        where.kill("KILL")
        p.communicate(timeout=60)
        check(not left(), "nothing is left", of_sessions())


@test
def what_can_be_asked_of_one_that_runs():
    with Place() as where, where.begun(ASKED + "sleep infinity") as p:
        one = where.session()
        check("Pod membrane-agent-%s of" % one in where.membrane("ps").stdout,
              "ps says which Pod", where.membrane("ps"))
        check(within(20, lambda: "not.test" in where.membrane(
            "logs", one).stdout), "logs", where.membrane("logs", one))
        done = where.membrane("allow", "other.test", "--session", one, "--yes")
        check(done.returncode == 1 and "immutable ConfigMap" in done.stderr,
              "its plan stays", done)
        done = where.membrane("reset", one, "--yes")
        said = p.communicate(timeout=60)
        check(done.returncode == 0 and p.returncode != 0, "reset ends it",
              (done, p.returncode, said))
        check(where.membrane("ps").stdout.strip() in ("", "no session runs"),
              "none runs", where.membrane("ps"))
    check(not left(), "nothing is left", of_sessions())


@test
def what_a_crash_leaves_goes_with_the_next_call():
    for call in (lambda w: w.membrane("reset", "c", "--yes"),
                 lambda w: w.run("true")):
        with Place() as where, where.begun("sleep infinity") as p:
            where.crash()
            p.wait(timeout=60)
            check(of_sessions(), "nobody is there who would remove them")
            done = call(where)
            check(done.returncode == 0, "the next call", done)
            check(not left(), "nothing is left", of_sessions())
            p.communicate(timeout=60)   # kubectl had its streams


@test
def a_kubelet_that_is_restarted_ends_no_session():
    with Place() as where, where.begun(
            "until [ -e /workspace/go ]; do sleep 0.1; done; " + ASKED +
            "sleep 8; echo later; exit 6") as p:
        subprocess.run([HERE / "node", "restart"], check=True)
        pod = "membrane-agent-" + where.session()
        check(within(90, lambda: not kubectl(
            "exec", pod, "-c", "agent", "--", "touch", "/workspace/go",
            fails=True).returncode), "kubelet is there again")
        said = p.communicate(timeout=180)
        check(p.returncode == 6 and "later" in said[0], "it goes on",
              (p.returncode, said))
        check("was cut" in said[1], "that is told", said[1])
        check("not.test" in {r.get("name") for r in where.records("decision")},
              "and decided, on record", said[1])
    check(not left(), "nothing is left", of_sessions())


@test
def what_cannot_begin_is_said():
    for policy, image, command, words, status in (
            (POLICY + SECRET, None, "true", "agent-credentials", 125),
            (POLICY, "membrane.test/none@sha256:" + "1" * 64, "true", "none",
             125),
            (POLICY, None, "no-such-program", "no-such-program", 127)):
        with Place(policy, image) as where:
            done = where.run(command)
            check(done.returncode == status and words in done.stderr,
                  "it is said: " + words, done)
        check(not left(), "nothing is left", of_sessions())


# --- what reads a cluster -----------------------------------------------------

@test
def logs_of_many_are_one():
    with Pod(POLICY) as a, Pod(POLICY + "ports: [8080]\n") as b:
        for p in (a, b):
            p.begin()
            p.tried([["resolve", "site.test"], ["resolve", p.name + ".test"]])
        chosen = ("logs", "--selector", "app.kubernetes.io/managed-by=membrane")
        with Place() as where:
            out = where.membrane(*chosen).stdout
            for p in (a, b):
                check(re.search(r"%s .*%s\.test" % (p.name, p.name), out),
                      "of each Pod, by its name", out)
            lines = [json.loads(l) for l in where.membrane(
                *chosen, "--json").stdout.splitlines()]
            check({a.name, b.name} <= {l["pod"] for l in lines}, "as JSON",
                  lines[:3])
            follow(where, chosen, a)


def follow(where, chosen, p):
    with subprocess.Popen(where.argv(*chosen, "-f"), text=True,
                          stdout=subprocess.PIPE) as seen:
        try:
            p.tried([["resolve", "later.test"]])
            check(any("later.test" in line for line in seen.stdout),
                  "what comes is shown")
        finally:
            where.kill("TERM")


def of_cluster(p, *flags):
    """What check says of p's objects, as the server has them."""
    state = kubectl("get", "pods,configmaps,networkpolicies,jobs,deployments,"
                    "services", "-o", "json").stdout
    if "apart" not in flags:
        flags += ("--sidecar", "container")
    return p.membrane("check", "--target", "kubernetes", "--name", p.name,
                      "--gate-image", cluster.node.images["gate"],
                      "--workspace-from", "empty",
                      "--cluster-state", "-", *flags, input=state)


# In a Deployment behind its template's place, in a Pod as it is.
FIELD = ["spec.containers[0].env[1].valueFrom.fieldRef.fieldPath"]


def older(file):
    """What a server of before 1.28 takes in that place; check tells it."""
    file.write_text(file.read_text().replace("status.hostIPs",
                                             "status.hostIP"))


def found_apart(p):
    """The paths that differ by kind, and what gates do."""
    objects = json.loads(of_cluster(p, *APART, "--json").stdout)["objects"]
    bad = {o["kind"]: [d["path"].replace("spec.template.spec", "spec")
                       for d in o["differences"]] or o["end"]
           for o in objects if o["end"] != "same"}
    return bad, sorted(o["gate"] for o in objects if "gate" in o)


@test
def what_runs_apart_is_what_was_reviewed():
    with Pod("allow: ['site.test:443']\n", *APART) as p:
        older(p.plan / "gate.yaml")
        files = [p.plan / f for f in yaml.safe_load(
            (p.plan / "kustomization.yaml").read_text())["resources"]]
        for file in files:
            kubectl("apply", "-f", file)
        try:
            check(within(90, lambda: found_apart(p) == (
                {"Deployment": FIELD, "Pod": FIELD}, ["apart", "ready"])),
                  "all but that, and its gate is up", found_apart(p))
            kubectl("patch", "service", p.name + "-gate", "-p", json.dumps(
                {"spec": {"selector": {"membrane/role": "agent"}}}))
            check(found_apart(p)[0].get("Service") ==
                  ['spec.selector["membrane/role"]'],
                  "a Service that leads elsewhere", found_apart(p))
        finally:
            for file in files[1:]:
                kubectl("delete", "--wait=false", "-f", file, fails=True)


@test
def what_runs_is_what_was_reviewed():
    for kind in ("pod", "job", "deployment"):
        flags = () if kind == "pod" else ("--kind", kind)
        with Pod(POLICY + "hardening: {memory: 512m, cpus: 0.5}\n",
                 *flags) as p:
            for name in ("configmap", "networkpolicy", "pod"):
                kubectl("apply", "-f", p.plan / (name + ".yaml"))
            try:
                made = within(60, lambda: of_cluster(p, *flags).returncode == 0)
                said = of_cluster(p, *flags)
                check(made, "the server's are the plan's: " + kind, said)
                check(within(60, lambda: "gate ready" in
                             of_cluster(p, *flags).stdout), "its gate is",
                      of_cluster(p, *flags))
                if kind == "pod":
                    kubectl("label", "pod", p.name, "membrane/plan=other",
                            "--overwrite")
                    said = of_cluster(p)
                    check(said.returncode == 1 and "membrane/plan" in
                          said.stderr, "a label that changed", said)
            finally:
                kubectl("delete", "--wait=false", "-f",
                        p.plan / "networkpolicy.yaml", fails=True)
