"""What several checks do with manifests: compile them, find the Pod in them,
and ask what npm has.

    for name, out in manifests.compiled(folder):
        docs = list(manifests.documents(out))
"""
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys

import yaml

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = ROOT / os.environ.get("B", "build")
LOADER = importlib.machinery.SourceFileLoader("run", str(ROOT / "tests/run"))
run = importlib.util.module_from_spec(
    importlib.util.spec_from_loader("run", LOADER))
sys.dont_write_bytecode = True
LOADER.exec_module(run)

FILES = ("pod.yaml", "configmap.yaml", "networkpolicy.yaml", "admission.yaml",
         "fqdn.yaml", "gate.yaml")


class Refused(Exception):
    """What the compiler said."""


def spec_of(workload):
    spec = workload["spec"]
    return spec if workload["kind"] == "Pod" else \
        spec.get("template", spec.get("podTemplate"))["spec"]


def compiled(folder):
    """(name, folder of the plan) of each golden case for Kubernetes."""
    for case in sorted(run.CASES.iterdir()):
        flags = run.words(case / "flags")
        if not case.name.startswith("kubernetes-") or "refuse" in case.name \
                or "--target" not in flags:
            continue
        tmp = folder / case.name
        tmp.mkdir()
        work, env = run.prepare(case, tmp)
        done = subprocess.run([run.MEMBRANE, "compile", *flags, "-o", "../out"],
                              cwd=work, env=env, capture_output=True,
                              text=True, check=False)
        if done.returncode:
            raise Refused("%s: %s" % (case.name, done.stderr))
        yield case.name, tmp / "out"


def documents(out):
    for name in FILES:
        if (out / name).exists():
            for doc in yaml.safe_load_all((out / name).read_text()):
                yield name, doc


def node_modules(what):
    """Where npm has put what tests/kubernetes/package.json asks for; None,
    after saying why, and what is not done for it."""
    room = BUILD / "kubernetes-npm"
    if not shutil.which("npm") or not shutil.which("node"):
        print("no npm here: %s" % what)
        return None
    room.mkdir(parents=True, exist_ok=True)
    wanted = (HERE / "package.json").read_bytes()
    if not (room / "node_modules").exists() or \
            (room / "package.json").read_bytes() != wanted:
        (room / "package.json").write_bytes(wanted)
        done = subprocess.run(
            ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts"],
            cwd=room, capture_output=True, text=True, check=False)
        if done.returncode:
            (room / "package.json").unlink()
            print("npm found no registry: %s" % what)
            return None
    return room / "node_modules"


def asked(script, modules, value):
    done = subprocess.run(["node", HERE / script, modules],
                          input=json.dumps(value), capture_output=True,
                          text=True, check=False)
    if done.returncode:
        return {"complaints": [done.stderr[-600:]]}
    return json.loads(done.stdout)
