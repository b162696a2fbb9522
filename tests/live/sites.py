"""Sites of the fake internet that real clients use: npm, git, pip, apt and the
interfaces of language models. Each is a function(web, path, body)."""
import gzip
import hashlib
import io
import json
import os
import pathlib
import re
import subprocess
import tarfile
import zipfile

import accounts


def package(name, version, depends):
    """A package of the npm registry: (manifest, bytes of the tarball)."""
    manifest = {"name": name, "version": version, "main": "index.js",
                "dependencies": depends}
    files = {"package.json": json.dumps(manifest).encode(),
             "index.js": b"module.exports = '%s';\n" % name.encode()}
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as tar:
        for path, data in files.items():
            info = tarfile.TarInfo("package/" + path)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return manifest, gzip.compress(raw.getvalue(), mtime=0)


def npm_site():
    made = {n: package(n, v, d) for n, v, d in (
        ("tiny", "1.0.0", {"tinier": "^2.0.0"}), ("tinier", "2.1.0", {}))}

    def site(web, path, _):
        name = path.strip("/").split("/")[0]
        if name not in made:
            return web.reply(b"{}", "application/json", 404)
        manifest, tarball = made[name]
        if path.endswith(".tgz"):
            return web.reply(tarball, "application/octet-stream")
        version = manifest["version"]
        dist = {"tarball": "https://registry.npmjs.org/%s/-/%s-%s.tgz" % (
            name, name, version),
            "shasum": hashlib.sha1(tarball).hexdigest()}
        document = {"name": name, "dist-tags": {"latest": version},
                    "versions": {version: {**manifest, "dist": dist}}}
        return web.reply(json.dumps(document).encode(), "application/json")
    return site


def repository(repo, files, tag=None):
    """A bare repository of one commit."""
    env = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null",
           "GIT_INDEX_FILE": repo / "index",
           "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@git.test",
           "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@git.test"}

    def git(*args, **more):
        return subprocess.run(
            ["git", "-C", repo, *args], env=env, check=True,
            capture_output=True, **more).stdout.decode().strip()
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", repo],
                   env=env, check=True)
    for name, data in files.items():
        blob = git("hash-object", "-w", "--stdin", input=data)
        git("update-index", "--add", "--cacheinfo", "100644", blob, name)
    commit = git("commit-tree", "-m", "hello", git("write-tree"))
    for ref in ["heads/main"] + (["tags/" + tag] if tag else []):
        git("update-ref", "refs/" + ref, commit)


def git_site(root, at, files, tag=None):
    """Smart HTTP, read only: git does the talking."""
    repo = root / at.replace("/", "-")
    if not repo.exists():
        repository(repo, files, tag)

    def site(web, path, body):
        kind = "application/x-git-upload-pack-"
        if path == at + "/info/refs?service=git-upload-pack":
            head, args, kind = b"001e# service=git-upload-pack\n0000", \
                ["--advertise-refs"], kind + "advertisement"
        elif path == at + "/git-upload-pack":
            head, args, kind = b"", [], kind + "result"
            if web.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
        else:
            return web.reply(b"no such repository\n", status=404)
        done = subprocess.run(
            ["git", "-c", "safe.directory=*", "upload-pack",
             "--stateless-rpc", *args, repo], input=body, check=False,
            capture_output=True)
        return web.reply(head + done.stdout, kind)
    return site


def hermes_site(root):
    """As large a part of Hermes Agent's repository as its image needs."""
    here = pathlib.Path(__file__).resolve().parent / "hermes"
    return git_site(root, "/NousResearch/hermes-agent", {
        path.name: path.read_bytes() for path in here.iterdir()
        if path.is_file()}, "v2026.9.24")


def go_site():
    """A module proxy with one module."""
    module, base = "tiny.test/tiny", "/tiny.test/tiny/@v/v1.2.0"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        for name, data in (
                ("go.mod", "module %s\n" % module),
                ("tiny.go", "package tiny\n\nconst Name = \"tiny\"\n")):
            z.writestr(zipfile.ZipInfo("%s@v1.2.0/%s" % (module, name)), data)
    files = {base + ".info": b'{"Version":"v1.2.0"}',
             base + ".mod": b"module tiny.test/tiny\n",
             base + ".zip": out.getvalue()}

    def site(web, path, _):
        if path not in files:
            return web.reply(b"no such module\n", status=404)
        return web.reply(files[path], "application/octet-stream")
    return site


def cargo_sites(root):
    """An index that is a repository of GitHub, and the host that it names."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as tar:
        for name, data in (
                ("Cargo.toml", b'[package]\nname = "tiny"\n'
                 b'version = "1.2.0"\n'),
                ("src/lib.rs", b'pub const NAME: &str = "tiny";\n')):
            info = tarfile.TarInfo("tiny-1.2.0/" + name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    crate = gzip.compress(raw.getvalue(), mtime=0)
    line = {"name": "tiny", "vers": "1.2.0", "deps": [], "features": {},
            "cksum": hashlib.sha256(crate).hexdigest(), "yanked": False}
    index = git_site(root, "/rust-lang/crates.io-index", {
        "config.json": b'{"dl": "https://static.crates.io/crates"}',
        "ti/ny/tiny": json.dumps(line).encode() + b"\n"})

    def files(web, path, _):
        if path != "/crates/tiny/1.2.0/download":
            return web.reply(b"no such crate\n", status=404)
        return web.reply(crate, "application/gzip")
    return {"github.com": index, "static.crates.io": files}


def wheel(name, version):
    """A pure wheel of one module that says its name."""
    info = "%s-%s.dist-info/" % (name, version)
    files = {name + ".py": "NAME = '%s'\n" % name,
             info + "METADATA": "Metadata-Version: 2.1\nName: %s\n"
                                "Version: %s\n" % (name, version),
             info + "WHEEL": "Wheel-Version: 1.0\nGenerator: fake\n"
                             "Root-Is-Purelib: true\nTag: py3-none-any\n"}
    record = "".join("%s,,\n" % f for f in [*files, info + "RECORD"])
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        for path, data in {**files, info + "RECORD": record}.items():
            z.writestr(zipfile.ZipInfo(path), data)
    return out.getvalue()


def pip_sites():
    """The index, and the host that its links lead to."""
    data, file = wheel("tinywheel", "1.2.0"), \
        "tinywheel-1.2.0-py3-none-any.whl"

    def index(web, path, _):
        if path.rstrip("/") != "/simple/tinywheel":
            return web.reply(b"no such project\n", status=404)
        link = '<a href="https://files.pythonhosted.org/packages/%s' \
            '#sha256=%s">%s</a>\n' % (file, hashlib.sha256(data).hexdigest(),
                                      file)
        return web.reply(link.encode(), "text/html")

    def files(web, path, _):
        return web.reply(data if path.endswith(file) else b"")
    return {"pypi.org": index, "files.pythonhosted.org": files}


def apt_site(web, path, _):
    """A repository of one package that is never fetched; not signed."""
    packages = (b"Package: tiny\nVersion: 1.0\nArchitecture: all\n"
                b"Filename: pool/tiny.deb\nSize: 8\nSHA256: %s\n"
                b"Description: tiny\n\n" % (b"0" * 64))
    base = "/debian/dists/bookworm/"
    name = "main/binary-%s/Packages"
    release = ("Origin: fake\nSuite: bookworm\nCodename: bookworm\n"
               "Architectures: all amd64 arm64\nComponents: main\n"
               "Date: Thu, 01 Jan 2026 00:00:00 UTC\nSHA256:\n")
    files = {}
    for arch in ("all", "amd64", "arm64"):
        release += " %s %d %s\n" % (hashlib.sha256(packages).hexdigest(),
                                    len(packages), name % arch)
        files[base + name % arch] = packages
    files[base + "Release"] = release.encode()
    if path not in files:
        return web.reply(b"", status=404)
    return web.reply(files[path], "application/octet-stream")


def models(field):
    """What a model answers, as both interfaces put it; also as a stream."""
    def site(web, path, body):
        if path == "/api/hello":   # is there a way here?
            return web.reply(b'{"message":"hello"}', "application/json")
        path = path.removeprefix("/api").split("?")[0]   # OpenRouter's
        if web.command != "POST" or path not in (
                "/v1/messages", "/v1/chat/completions", "/v1/responses"):
            return web.reply(b'{"type":"error"}', "application/json", 404)
        asked = json.loads(body or b"{}")
        web.note("model", streamed=bool(asked.get("stream")))
        if path == "/v1/responses":
            return web.reply(responses(asked), "text/event-stream")
        if field == "content":
            block = editing(asked) or {"type": "text",
                                       "text": "hello from the model"}
            answer = {"id": "msg_1", "type": "message", "role": "assistant",
                      "model": asked.get("model", "m"), "content": [block],
                      "stop_reason": "tool_use" if block["type"] == "tool_use"
                      else "end_turn",
                      "usage": {"input_tokens": 1, "output_tokens": 4}}
        else:
            answer = {"id": "c_1", "object": "chat.completion", "choices": [
                {"index": 0, "finish_reason": "stop", "message": {
                    "role": "assistant",
                    "content": "hello from the model"}}]}
        if asked.get("stream"):
            return stream(web, answer) if field == "content" else \
                web.reply(b"data: [DONE]\n\n", "text/event-stream")
        return web.reply(json.dumps(answer).encode(), "application/json")
    return site


# A prompt by which the model changes a word of a file.
EDIT = re.compile(r"\bedit (\S+): (\w+) -> (\w+)")


def editing(asked):
    """Where the prompt is such an `edit`, the model uses the agent's own tools:
    it reads the file and then edits it. None: it has nothing (more) to do."""
    parts = [c for m in asked.get("messages") or [] if m["role"] == "user"
             for c in ([{"type": "text", "text": m["content"]}]
                       if isinstance(m["content"], str) else m["content"])]
    wanted = [found for c in parts if c["type"] == "text"
              for found in EDIT.findall(c["text"])]
    done = sum(c["type"] == "tool_result" for c in parts)
    tools = {t["name"].lower(): t for t in asked.get("tools") or []}
    if not wanted or done > 1 or not {"read", "edit"} <= set(tools):
        return None
    tool = tools["edit" if done else "read"]
    return {"type": "tool_use", "id": "toolu_%d" % done, "name": tool["name"],
            "input": arguments(tool["input_schema"], *wanted[-1])}


def arguments(schema, file, old, new):
    """As that tool calls them: of a list of edits, one."""
    out = {}
    for name, about in schema["properties"].items():
        if name in ("path", "filePath", "file_path"):
            out[name] = file
        elif name.startswith("old"):
            out[name] = old
        elif name.startswith("new"):
            out[name] = new
        elif name == "edits":
            out[name] = [arguments(about["items"], file, old, new)]
    return out


def stream(web, answer):
    """The message as server-sent events."""
    block = answer["content"][0]
    if block["type"] == "text":
        begin = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": block["text"]}
    else:
        begin = {**block, "input": {}}
        delta = {"type": "input_json_delta",
                 "partial_json": json.dumps(block["input"])}
    start = {**answer, "content": [], "stop_reason": None}
    events = [
        {"type": "message_start", "message": start},
        {"type": "content_block_start", "index": 0,
         "content_block": begin},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {
            "stop_reason": answer["stop_reason"]},
         "usage": {"output_tokens": 4}},
        {"type": "message_stop"}]
    web.reply("".join("event: %s\ndata: %s\n\n" % (e["type"], json.dumps(e))
                      for e in events).encode(), "text/event-stream")


def responses(asked):
    """The interface that codex speaks. Where the prompt is `run COMMAND`, the
    model first has that command run, and then answers with what it said; so
    does it edit a file."""
    def texts(item):
        content = item.get("content") or []
        return [content] if isinstance(content, str) else [
            c.get("text", "") for c in content]
    items = asked.get("input") or []
    said = [i["output"] for i in items
            if i.get("type") == "function_call_output"]
    wanted = [t[4:] for i in items if i.get("role") == "user"
              for t in texts(i) if t.startswith("run ")]
    wanted += ["sed -i s/%s/%s/ %s; echo hello from the model" % (old, new, file)
               for i in items if i.get("role") == "user" for t in texts(i)
               for file, old, new in EDIT.findall(t)]
    tools = [t.get("name") for t in asked.get("tools") or []]
    if wanted and not said and "exec_command" in tools:
        item = {"type": "function_call", "name": "exec_command",
                "call_id": "call_1",
                "arguments": json.dumps({"cmd": wanted[-1]})}
    elif wanted and not said:
        item = message("no tool of %s" % tools)
    else:
        item = message(said[-1] if said else "hello from the model")
    usage = {"input_tokens": 1, "output_tokens": 4, "total_tokens": 5}
    events = [
        {"type": "response.created", "response": {
            "id": "r_1", "created_at": 1700000000, "model": "m"}},
        *spoken(item),
        {"type": "response.output_item.done", "output_index": 0,
         "item": item},
        {"type": "response.completed",
         "response": {"id": "r_1", "usage": usage}}]
    return "".join("event: %s\ndata: %s\n\n" % (e["type"], json.dumps(e))
                   for e in events).encode()


def spoken(item):
    """A message is said bit by bit before it is there."""
    if item["type"] != "message":
        return []
    return [{"type": "response.output_item.added", "output_index": 0,
             "item": {**item, "content": []}},
            {"type": "response.output_text.delta", "output_index": 0,
             "content_index": 0, "item_id": item["id"],
             "delta": item["content"][0]["text"]}]


def message(text):
    return {"type": "message", "role": "assistant", "id": "m_1",
            "content": [{"type": "output_text", "text": text}]}


def chatgpt_models(web, path, body):
    """The interface of a plan: that of api.openai.com, elsewhere."""
    if web.command != "POST" or path != "/backend-api/codex/responses":
        return web.reply(b'{"detail":"Not Found"}', "application/json", 404)
    asked = json.loads(body)
    web.note("model", streamed=bool(asked.get("stream")))
    return web.reply(responses(asked), "text/event-stream")


def hook(web, path, body):
    """What somebody's refusals are sent to."""
    web.note("hook", path=path, body=body.decode(), signed=web.headers.get(
        "Membrane-Signature"))
    if path.startswith("/moved"):
        return web.reply(b"", status=302)
    return web.reply(b"", status=503 if path.startswith("/down") else 204)


def github(sites):
    """Several of its repositories: {the beginning of a path: site}."""
    def site(web, path, body):
        for at, one in sites.items():
            if path.startswith(at):
                return one(web, path, body)
        return web.reply(b"no such repository\n", status=404)
    return site


def all_sites(state):
    cargo = cargo_sites(state)
    return {"registry.npmjs.org": npm_site(), "git.test": git_site(
        state, "/hello.git", {"README": b"hello\n"}),
            "deb.debian.org": apt_site, **pip_sites(),
            "proxy.golang.org": go_site(), **cargo,
            "github.com": github({"/NousResearch/": hermes_site(state),
                                  "/": cargo["github.com"]}),
            **accounts.sites(state), "chatgpt.com": chatgpt_models,
            "hooks.test": hook,
            "api.anthropic.com": models("content"),
            **dict.fromkeys(("api.openai.com", "openrouter.ai"),
                            models("choices"))}
