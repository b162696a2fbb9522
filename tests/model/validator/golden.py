"""The golden cases, compiled: the one place that calls membrane, to write
artefacts and never to decide."""
import collections
import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys

from . import compare, launch, link, names, nft, policy

ROOT = pathlib.Path(__file__).resolve().parents[3]
PRESETS = ROOT / "policies"
LAUNCHED = "docker.json", "native.json"
# launched: {"docker.json": its text, ...}; the rest is for calling membrane
Made = collections.namedtuple(
    "Made", "policy ruleset names launched work env flags out")


def runner():
    """tests/run, which knows how a case lies there."""
    loader = importlib.machinery.SourceFileLoader("run", str(ROOT / "tests/run"))
    module = importlib.util.module_from_spec(
        importlib.util.spec_from_loader("run", loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


RUN = runner()


def cases(wanted=()):
    return [c.name for c in sorted(RUN.CASES.iterdir())
            if (c / "input.yaml").exists() and
            (not wanted or c.name in wanted)]


def compiled(name, tmp):
    """What a case compiles to; None where nothing does."""
    case = RUN.CASES / name
    # A command of the case's own may have other flags than a policy's.
    flags = [] if (case / "command").exists() else RUN.words(case / "flags")
    try:
        work, env = RUN.prepare(case, tmp)
    except subprocess.SubprocessError:
        return None
    out = tmp / "plan"
    done = subprocess.run(
        [RUN.MEMBRANE, "compile", *flags, "-o", out], cwd=work, env=env,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL)
    # Where the gate has a Pod of its own, no packet filter holds anything.
    if done.returncode or not (out / "ruleset.nft").exists():
        return None
    files = [(env["MEMBRANE_HOME"] + "/config.yaml", "global.yaml"),
             (work / ".membrane.yaml", ".membrane.yaml")]
    return Made(policy.read(files, flags, PRESETS),
                (out / "ruleset.nft").read_text(),
                (out / "names.map").read_text(),
                {f.name: f.read_text() for f in out.iterdir()
                 if f.name in LAUNCHED}, work, env, flags, out)


def plan(made, ruleset=None, map_text=None):
    return compare.Plan(made.policy, nft.Ruleset(ruleset or made.ruleset),
                        names.NamesMap(map_text or made.names))


def differences(made):
    return list(every(plan(made))) + list(
        launch.differences(made.policy, made.launched))


def every(one):
    yield from compare.differences(one)
    yield from link.differences(one)


def told(d):
    want, rule = d.want
    out = ["%s\n  policy  %s" % (d.subject, want)]
    if rule:
        out.append("          %s: %s" % (rule.where, rule.text))
    out.append("  plan    %s" % (d.got,))
    out += ["          %s:%d %s" % (
        "names.map" if hasattr(l, "word") else "ruleset.nft", l.line, l.text)
        for l in d.lines]
    return "\n".join(out)
