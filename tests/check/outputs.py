"""The JSON Schemas of doc/schemas, for what holds outputs against them.

    schemas = outputs.Schemas()
    schemas.complaint("plan", value)     None, or the first thing that is wrong
    schemas.judge(argv, stdout)          what a command has printed
    schemas.judge_home(folder)           the files of the sessions in a home

Which properties were seen is in schemas.seen. Works with python3-jsonschema of
Debian 12 (4.10) and later: files are put together here, not by its resolvers.
"""
import gzip
import json
import pathlib
import re
import zlib

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "doc/schemas"
END = ".schema.json"
POLICY = "policy"   # tests/check/schema holds that one
# What each verb prints with --json, and what each of these flags does instead.
VERBS = {"plan": "plan", "explain": "explain", "diff": "diff",
         "check": "check", "test": "test", "doctor": "doctor", "ps": "ps",
         "logs": "decision", "agents": "agents", "allow": "amend", "deny": "amend"}
VIEWS = {"show": "trace-show", "follow": "trace-show", "tree": "trace-tree",
         "stats": "trace-stats", "replay": "trace-replay"}
LINES = {"decision", "fleet", "trace-show", "trace-tree", "trace-record"}
OTHERWISE = re.compile(r"--(markdown|sarif|emit|dump-ir|ids|agent|junit|help)\b")
ARTEFACTS = {"manifest.json": "manifest", "provenance.json": "provenance",
             "trace.json": "trace", "docker.json": "docker",
             "native.json": "native",
             "kubernetes.json": "kubernetes", "policy.json": POLICY}
RECORDS = 2000   # of one file: those that are alike are not looked at again


def read(name):
    return json.loads((FOLDER / (name + END)).read_text())


def renamed(node, prefix):
    """The same schema where its own root is at prefix."""
    if isinstance(node, dict):
        return {k: prefix + v[1:] if k == "$ref" and v.startswith("#") else
                renamed(v, prefix) for k, v in node.items()}
    if isinstance(node, list):
        return [renamed(v, prefix) for v in node]
    return node


def refs(node):
    if isinstance(node, dict):
        for key, value in node.items():
            if key == "$ref" and isinstance(value, str):
                yield value
            else:
                yield from refs(value)
    elif isinstance(node, list):
        for value in node:
            yield from refs(value)


def whole(name):
    """The schema with the files that it refers to, under their names."""
    root, todo, done = read(name), [], {}
    todo = [root]
    while todo:
        for ref in refs(todo.pop()):
            file = ref.partition("#")[0]
            if file and file not in done:
                done[file] = read(file.removesuffix(END))
                todo.append(done[file])

    def at_home(node):
        if isinstance(node, dict):
            return {k: "#/$defs/" + v.replace("#", "", 1)
                    if k == "$ref" and not v.startswith("#") else at_home(v)
                    for k, v in node.items()}
        return [at_home(v) for v in node] if isinstance(node, list) else node

    root = at_home(root)
    for file, schema in done.items():
        schema = at_home(renamed(schema, "#/$defs/" + file))
        schema = {k: v for k, v in schema.items()
                  if k not in ("$id", "$schema")}
        root.setdefault("$defs", {})[file] = schema
    return root


def at(root, pointer):
    for part in pointer.split("/")[1:]:
        root = root[int(part)] if isinstance(root, list) else root[part]
    return root


def shape(value, depth=0):
    """What two records have in common that are alike: members, types, and of
    the outer members the words."""
    if isinstance(value, dict):
        return tuple((k, shape(v, depth + 1)) for k, v in value.items())
    if isinstance(value, list):
        return tuple(sorted({shape(v, depth + 1) for v in value}, key=repr))
    if isinstance(value, str) and depth < 2 and re.fullmatch("[a-z_-]+",
                                                             value):
        return value
    return type(value).__name__


class Schemas:
    def __init__(self):
        self.names = sorted(p.name.removesuffix(END)
                            for p in FOLDER.glob("*" + END))
        self.validators, self.alike, self.seen = {}, set(), set()

    def validator(self, name):
        if name not in self.validators:
            self.validators[name] = jsonschema.Draft202012Validator(
                whole(name), format_checker=jsonschema.FormatChecker(
                    formats=("ipv4", "ipv6")))
        return self.validators[name]

    def complaint(self, name, value):
        v = self.validator(name)
        if v.is_valid(value):
            self.walk(v, v.schema, "#", value, name)
            return None
        error = worst(v.iter_errors(value))
        return "%s: at /%s: %s" % (
            name, "/".join(map(str, error.absolute_path)), error.message[:300])

    def walk(self, v, schema, pointer, value, name):
        """Note the properties by which the value is valid."""
        if "$ref" in schema:
            pointer = schema["$ref"]
            self.walk(v, at(v.schema, pointer[1:]), pointer, value, name)
        if isinstance(value, dict):
            for key, item in value.items():
                inner = schema.get("properties", {}).get(key)
                if inner is not None:
                    self.seen.add((spot(name, pointer), key))
                    self.walk(v, inner, "%s/properties/%s" % (pointer, key),
                              item, name)
                elif isinstance(schema.get("additionalProperties"), dict):
                    self.walk(v, schema["additionalProperties"],
                              pointer + "/additionalProperties", item, name)
        elif isinstance(value, list) and "items" in schema:
            for item in value:
                self.walk(v, schema["items"], pointer + "/items", item, name)
        for word in ("anyOf", "oneOf"):
            for i, branch in enumerate(schema.get(word, ())):
                if v.evolve(schema=branch).is_valid(value):
                    self.walk(v, branch, "%s/%s/%d" % (pointer, word, i),
                              value, name)

    def text(self, name, text):
        """Complaints about what was printed or written: one value, or of some
        a value on each line. Those that are like one before count with it."""
        out = []
        lines = text.splitlines()[:RECORDS] if name in LINES or \
            name == "change" else [text]
        for line in lines:
            try:
                value = json.loads(line)
            except ValueError as e:
                out.append("%s: %s: %.200s" % (name, e, line))
                continue
            kind = (name, shape(value)) if len(lines) > 1 else None
            if kind is None or kind not in self.alike:
                said = self.complaint(name, value)
                out += [said] if said else []
            self.alike.add(kind)
        return out

    def judge(self, argv, stdout):
        """Complaints about what `membrane ARGV...` has printed."""
        name = schema_of(argv)
        return self.text(name, stdout) if name and stdout.strip() else []

    def judge_plan(self, folder):
        """Those about the artefacts of a plan."""
        return [said for path in sorted(folder.glob("*.json"))
                if path.name in ARTEFACTS
                for said in self.text(ARTEFACTS[path.name],
                                      path.read_text())]

    def judge_home(self, home):
        """Those about all that sessions left in ~/.membrane."""
        out = []
        for path in sorted(home.glob("sessions/*/*")):
            if path.is_symlink() or not (path.is_file() or path.is_dir()):
                continue   # a socket
            name = re.sub(r"\.\d+$", "", path.name.removesuffix(".jsonl"))
            if path.name in ("session.json", "summary.json"):
                out += self.text(path.stem, path.read_text())
            elif path.suffix == ".jsonl" and name in ("decisions", "changes"):
                # A session that runs may be in the middle of a line.
                whole_lines = path.read_text().rpartition("\n")[0]
                out += self.text(name[:-1], whole_lines)
            elif path.is_dir() and re.fullmatch(r"plan(\.\d+)?", path.name):
                out += self.judge_plan(path)
        for path in sorted(home.glob("trace/*.jsonl.gz")):
            out += self.trace(path)
        return out

    def trace(self, path):
        """Of the built-in tracer's records: Tracee says what it writes."""
        lines = []
        try:
            with gzip.open(path, "rt") as file:
                for line in file:
                    lines.append(line)
                    if len(lines) == RECORDS:
                        break
        except (EOFError, gzip.BadGzipFile, zlib.error):
            pass   # it grows, or a test has damaged it
        if any('"threadEntityId"' in line or
               '"membrane_start"' in line and '"hostName"' not in line
               for line in lines[:50]):
            return []
        return self.text("trace-record", "".join(
            line for line in lines if line.endswith("\n")))


def worst(errors):
    """Of alternatives, what is wrong with the one that fits best."""
    def depth(e):
        return len(e.absolute_path)

    found = max(errors, key=depth)
    if not found.context:
        return found
    branches = {}
    for e in found.context:
        branches.setdefault(e.relative_schema_path[0], []).append(e)
    return worst(min(branches.values(), key=lambda branch: (
        sum(e.validator == "const" for e in branch), len(branch))))


def spot(name, pointer):
    """Where a property is said: what several share is the same place."""
    common = "#/$defs/common" + END
    return pointer.replace(common, "common#") if pointer.startswith(common) \
        else name + pointer


def is_of_many(words):
    """`logs`, of Pods or of what is no session's ID."""
    return "--selector" in words or \
        any(not re.match(r"-|[0-9a-f]{4,12}$", w) for w in words)


def schema_of(argv):
    """The schema of what `membrane ARGV...` prints, or None."""
    if "--json" not in argv or any(OTHERWISE.match(w) for w in argv):
        return None
    if argv[0] == "trace":
        words = [w for w in argv[1:] if not w.startswith("-")]
        return VIEWS.get(words[0]) if words else None
    if argv[0] == "logs" and is_of_many(argv[1:]):
        return "fleet"
    if argv[0] == "check" and "--cluster-state" in argv:
        return "cluster"
    return VERBS.get(argv[0])
