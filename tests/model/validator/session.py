"""Sessions that are changed while they run: doc/semantics.md, section 9.

A stand-in of the launcher's takes what `membrane allow` and `deny` stage, as a
session that runs would; what was said is one more layer (G-1), of which the
last word on a destination holds (G-4).
"""
import fcntl
import json
import os
import pathlib
import shutil
import socket
import subprocess
import threading

from . import golden, names, nft, policy

ID = "1f3c0a9b8d7e"
# What is said to a session of each of these cases, one after the other.
CASES = ("contract-names", "contract-destinations", "contract-ask",
         "net-quic-named")
CHANGES = (
    (("allow", "198.51.100.0/25:443"), ("deny", "198.51.100.64/26")),
    (("allow", "new.session.test:443"), ("deny", "new.session.test:443"),
     ("allow", "new.session.test:443")),
    (("allow", "**.session.test"), ("deny", "x.session.test")),
)


class Session:
    def __init__(self, made):
        self.made = made
        self.dir = pathlib.Path(made.env["MEMBRANE_HOME"], "sessions", ID)
        self.dir.mkdir(parents=True)
        shutil.copytree(made.out, self.dir / "plan")
        (self.dir / "session.json").write_text(json.dumps(
            {"version": 1, "session": ID, "workspace": str(made.work),
             "started": "2026-01-31T12:00:00Z", "command": ["sh"]}))
        self.lock = open(self.dir / "lock", "w")
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        self.said, self.at = [], 1

    def close(self):
        self.lock.close()
        shutil.rmtree(self.dir)

    def change(self, verb, dest):
        """Say it, and put what was staged into force."""
        folder = os.open(self.dir, os.O_PATH)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind("/proc/self/fd/%d/control" % folder)
        listener.listen()
        listener.settimeout(30)
        took = threading.Thread(target=self.take, args=[listener], daemon=True)
        took.start()
        done = subprocess.run(
            [golden.RUN.MEMBRANE, verb, dest, "--yes"], cwd=self.made.work,
            env=self.made.env, stdin=subprocess.DEVNULL, capture_output=True)
        if took.is_alive():                  # nothing was staged
            with socket.socket(socket.AF_UNIX) as nobody:
                nobody.connect("/proc/self/fd/%d/control" % folder)
        took.join(30)
        listener.close()
        os.close(folder)
        (self.dir / "control").unlink()
        if done.returncode and b"nothing would change" not in done.stderr:
            raise RuntimeError("%s %s: %s" % (verb, dest, done.stderr.decode()))

    def take(self, listener):
        client, _ = listener.accept()
        with client, client.makefile("r") as lines:
            line = lines.readline()
            if not line:
                return
            request = json.loads(line)
            if self.at == 1:
                shutil.copytree(self.dir / "plan", self.dir / "plan.1")
            self.at += 1
            shutil.copytree(self.dir / request["staged"],
                            self.dir / ("plan.%d" % self.at))
            self.said.append((request["verb"], request["dest"]))
            with (self.dir / "changes.jsonl").open("a") as record:
                record.write(json.dumps({
                    "event": "change", "time": "2026-01-31T12:10:00.000000Z",
                    "kind": "change", "generation": self.at,
                    "who": {"uid": 1000, "name": "me"}, "ms": 80,
                    **{k: request[k] for k in ("verb", "dest", "saved", "cut",
                                               "gained", "lost")}},
                    separators=(",", ":")) + "\n")
            client.sendall(json.dumps(
                {"ok": True, "generation": self.at, "ms": 80}).encode() + b"\n")

    def plan(self):
        """What is in force, and the policy with what was said (G-1, G-4)."""
        files = [(self.made.env["MEMBRANE_HOME"] + "/config.yaml",
                  "global.yaml"), (self.made.work / ".membrane.yaml",
                                   ".membrane.yaml")]
        layered = policy.read(files, self.made.flags, golden.PRESETS)
        last = {dest: verb for verb, dest in self.said}
        for dest, verb in last.items():
            layered.layer({verb: [policy.Text(dest)]}, "session")
        now = self.dir / ("plan.%d" % self.at if self.at > 1 else "plan")
        return golden.compare.Plan(
            layered, nft.Ruleset((now / "ruleset.nft").read_text()),
            names.NamesMap((now / "names.map").read_text()))


def differences(made, changes):
    """After each of the changes."""
    session = Session(made)
    try:
        for verb, dest in changes:
            session.change(verb, dest)
            yield from golden.every(session.plan())
    finally:
        session.close()
