"""What `membrane doctor --target kubernetes` finds on the node: its version has no
native sidecars, and nothing enforces a NetworkPolicy there."""
import json
import subprocess

import cluster
from cluster import check, kubectl, within
from live import test
from t_run import Place

OURS = ("pods,networkpolicies", "-l", "app.kubernetes.io/name=membrane-doctor",
        "-o", "name")


def visited(where, *words):
    """(its status, {name of a check: what was found})"""
    done = where.membrane("doctor", "--target", "kubernetes", "--json", *words)
    check(done.stdout, "it says something", done)
    return done, {c["name"]: c for c in json.loads(done.stdout)["checks"]}


def left():
    """Once what is on its way out has gone."""
    within(150, lambda: not kubectl("get", *OURS).stdout)
    return kubectl("get", *OURS).stdout


def image():
    return "--gate-image", cluster.node.images["gate"]


@test
def doctor_tries_the_node():
    plans = kubectl("get", "configmaps", "-o", "name").stdout
    with Place() as where:
        done, found = visited(where, "--sidecar", "container", *image())
        check(done.returncode == 0, "run works there", done)
        for name in ("kubectl", "API server", "Pods", "pods/log", "ConfigMaps",
                     "NetworkPolicies", "restricted Pod", "Pod with its gate",
                     "gate in its Pod"):
            check(found[name]["state"] == "ok", name, found[name])
        check("create, patch, get" in found["Pods"]["detail"],
              "rights are asked for", found["Pods"])
        check("not enforced" in found["NetworkPolicy"]["detail"],
              "no NetworkPolicy is enforced", found["NetworkPolicy"])
        for name, words in (("native sidecar", "restartPolicy"),
                            ("hostUsers", "hostUsers"),
                            ("ValidatingAdmissionPolicy", "the server has no"),
                            ("agents.x-k8s.io", "NotFound")):
            check(found[name]["state"] == "missing" and
                  words in found[name]["detail"], name, found[name])
    check(not left(), "nothing is left", left())
    check(kubectl("get", "configmaps", "-o", "name").stdout == plans,
          "nor is a plan")


@test
def doctor_says_what_is_not_admitted():
    with Place() as where:
        done, found = visited(where, *image())
        check(done.returncode == 1, "without the option it does not", done)
        check(found["gate in its Pod"]["state"] == "ok",
              "the gate is tried as it would work", found)
        done, found = visited(where, "-n", "nowhere", *image())
        check(done.returncode == 1 and
              "nowhere" in found["restricted Pod"]["detail"],
              "a namespace that is not there", found["restricted Pod"])
        done, found = visited(where, "--sidecar", "container",
                              "--seccomp-profile", "none.json", *image())
        check(done.returncode == 1 and
              found["seccomp profile"]["state"] == "missing",
              "a profile that no node has", found["seccomp profile"])
        done, found = visited(where, "--gate-image",
                              "membrane.test/none@sha256:" + "1" * 64)
        check("none" in found["gate in its Pod"]["detail"],
              "an image that cannot be pulled", found["gate in its Pod"])
    check(not left(), "nothing is left", left())


def as_somebody(where):
    """A kubeconfig of a user whom nobody has given a right."""
    config = json.loads(kubectl("config", "view", "--raw", "--flatten",
                                "-o", "json").stdout)
    config["users"][0]["user"]["as"] = "somebody"
    path = where.folder / "kubeconfig"
    path.write_text(json.dumps(config))
    return "KUBECONFIG=%s" % path


@test
def doctor_says_which_rights_are_missing():
    with Place() as where:
        argv = where.argv("doctor", "--target", "kubernetes", "--json",
                          *image())
        argv.insert(argv.index("env") + 1, as_somebody(where))
        done = subprocess.run(argv, check=False, text=True,
                              capture_output=True)
        found = {c["name"]: c for c in json.loads(done.stdout)["checks"]}
        check(done.returncode == 1, "it does not work", done)
        check(found["Pods"]["detail"] ==
              "you may not: create, patch, get, watch, delete",
              "each right is named", found["Pods"])
        check("forbidden" in found["restricted Pod"]["detail"],
              "in the server's words", found["restricted Pod"])
        check("not tried" in found["gate in its Pod"]["detail"],
              "nothing is made", found["gate in its Pod"])


@test
def doctor_leaves_nothing_when_it_is_ended():
    for word in ("TERM", "KILL"):
        with Place() as where, subprocess.Popen(
                where.argv("doctor", "--target", "kubernetes", *image()),
                stdout=subprocess.PIPE, stderr=subprocess.PIPE) as p:
            check(within(60, lambda: kubectl("get", *OURS).stdout),
                  "it makes something")
            where.kill(word)
            said = p.communicate(timeout=60)
            check(p.returncode == (3 if word == "TERM" else 128 + 9),
                  "its status", (p.returncode, said))
        check(not left(), "nothing is left of SIG" + word, left())
