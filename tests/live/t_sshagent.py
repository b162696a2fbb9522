"""The user's ssh-agent inside: it signs, and does nothing else."""
import json
import os
import signal
import socket
import subprocess
import time

import live
from live import Place, check, test
from t_life import on_a_terminal

ASK = "ssh_agent: true\n"


class Agent:
    """A real ssh-agent of the unprivileged user, with one key in it."""

    def __init__(self, policy=ASK, workspace=None, keys=True):
        self.where = Place(policy, workspace, files={"data": "signed\n"})
        self.path = self.where.root / "agent.sock"
        self.where.env["SSH_AUTH_SOCK"] = str(self.path)
        self.process = None
        self.start()
        if keys:
            self.host("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C",
                      "key of the user", "-f", str(self.where.root / "key"))
            self.host("ssh-add", "-q", str(self.where.root / "key"))

    def start(self):
        self.process = subprocess.Popen(live.the.as_user(
            "ssh-agent", "-D", "-a", str(self.path), cwd=self.where.root,
            env={"HOME": str(self.where.root)}), stdout=subprocess.DEVNULL)
        end = time.monotonic() + 20
        while not self.path.exists() and time.monotonic() < end:
            time.sleep(0.02)

    def end(self):
        if self.process:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait()
        self.process = None

    def host(self, *words):
        """As root, whom an ssh-agent answers, too: OpenSSH's other programs
        want a user with a name."""
        return subprocess.run(
            words, cwd=self.where.root, check=True, capture_output=True,
            text=True, env={**os.environ, "HOME": str(self.where.root),
                            "SSH_AUTH_SOCK": str(self.path)}).stdout

    def run(self, command, *flags):
        return self.where.membrane("run", *flags, "--", "bash", "-c", command)

    def __enter__(self):
        self.where.__enter__()
        return self

    def __exit__(self, *what):
        self.end()
        self.where.__exit__(*what)


@test
def it_signs_inside():
    # inside, too: the image has a name for 1000, and none for the user here
    with Agent(ASK + live.NAMED) as a:
        listed = a.host("ssh-add", "-L")
        s = a.run("id -u; cd /tmp; ssh-add -L >key.pub; ssh-keygen -q -Y sign "
                  "-n file -f key.pub </workspace/data >sig; cat key.pub sig")
        user = "1000" if live.NAMED else live.the.user
        check(s.status == 0 and s.stdout.startswith(
            "%s\n%s" % (user, listed)) and
              "BEGIN SSH SIGNATURE" in s.stdout,
              "another user than the workspace's owner", s.stdout + s.stderr)
        check("your ssh-agent made 1 signature\n" in s.stderr,
              "the end tells of it", s.stderr)
        path, = a.where.state.glob("sessions/*/summary.json")
        counts = json.loads(path.read_text())["ssh_agent"]
        check(counts == {"asked": 1, "made": 1, "refused": 0,
                         "unanswered": 0}, "so does the record", counts)
        (a.where.root / "signers").write_text("me " + listed)
        (a.where.root / "sig").write_text(s.stdout[s.stdout.index("-----"):])
        check("Good \"file\" signature for me" in a.host(
            "sh", "-c", "ssh-keygen -Y verify -f signers -I me -n file "
            "-s sig <project/data"), "the host's key made it")
        s = a.run("cd /tmp; git init -q sub && cd sub && git -c "
                  "gpg.format=ssh -c user.signingkey=\"$(ssh-add -L)\" -c "
                  "user.name=A -c user.email=a@b.test commit -qS "
                  "--allow-empty -m one && git cat-file commit HEAD")
        check(s.status == 0 and "BEGIN SSH SIGNATURE" in s.stdout,
              "git signs by it", s.stdout + s.stderr)


# C-18
@test
def nothing_else_passes():
    with Agent() as a:
        before = a.host("ssh-add", "-L")
        a.host("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f",
               str(a.where.work / "k"))
        a.where.own()
        s = a.run("ssh-add k; ssh-add -D; ssh-add -d k.pub; "
                  "printf 'x\\nx\\n' | "
                  "SSH_ASKPASS=/bin/echo SSH_ASKPASS_REQUIRE=force ssh-add -x;"
                  " ssh-add -s /nowhere.so </dev/null; ssh-add -L; "
                  "ls -A /etc/membrane | grep ssh-agent; "
                  "rm -f $SSH_AUTH_SOCK; chmod 777 $SSH_AUTH_SOCK; "
                  "echo x >$SSH_AUTH_SOCK; ssh-add -l >/dev/null && echo last")
        check(s.stdout == before + "ssh-agent\nlast\n" and
              a.host("ssh-add", "-L") == before,
              "the keys are what they were", s.stdout + s.stderr)
        check(" for something else were refused" in s.stderr,
              "the end tells of it", s.stderr)


@test
def without_the_key_there_is_none():
    with Agent("ssh_agent: false\n") as a:
        s = a.run("echo \"[$SSH_AUTH_SOCK]\"; ls -A /etc/membrane; "
                  "ssh-add -L")
        check("[]\n" in s.stdout and "ssh-agent" not in s.stdout and
              s.status == 2, "no socket", s.stdout + s.stderr)


# C-19
@test
def it_goes_and_comes():
    with Agent(keys=False) as a:
        s = a.run("ssh-add -l")
        check(s.status == 1 and "no identities" in s.stdout, "without a key",
              s.stdout + s.stderr)
        p = a.where.popen("run", "--", "bash", "-c", "ssh-add -l; echo up; "
                          "read x; ssh-add -l 2>&1; echo gone; read x; "
                          "ssh-add -l 2>&1; echo back",
                          stdin=subprocess.PIPE)

        def until(word):
            seen = b""
            for line in p.stdout:
                if line.strip() == word:
                    return seen
                seen += line
            return seen

        until(b"up")
        a.end()
        p.stdin.write(b"\n")
        p.stdin.flush()
        check(b"agent refused operation" in until(b"gone"),
              "a refusal that says so")
        a.path.unlink(missing_ok=True)
        a.start()
        p.stdin.write(b"\n")
        p.stdin.flush()
        check(b"no identities" in until(b"back"), "and again")
        said = p.stderr.read().decode()
        check(p.wait() == 0 and "it did not answer 1 request" in said,
              "the end tells of it", said)
        check(not list(a.where.state.glob("sessions/*/ssh-agent")),
              "no socket is left")
        a.end()
        s = a.run("true")
        check(s.status == 125 and "nobody answers where SSH_AUTH_SOCK says" in
              s.stderr, "and without one nothing is run", s.stderr)


@test
def a_workspace_that_wants_it_asks():
    with Agent("allow: [a.test]\n", workspace=ASK) as a:
        s = a.run("true")
        check(s.status == 125 and "ssh_agent true" in s.stderr, "refused",
              s.stderr)
        status, screen = on_a_terminal(
            a.where, "run", "--", "ssh-add", "-L", keys=b"yes\r",
            when=b"[y/N]", seconds=60)
        check(status == 0 and "ssh_agent true" in screen and
              "key of the user" in screen, "asked", (status, screen))
        s = a.run("ssh-add -L")
        check(s.status == 0 and "key of the user" in s.stdout,
              "and not again", s.stdout + s.stderr)


def answers(path):
    with socket.socket(socket.AF_UNIX) as s:
        try:
            s.connect(str(path))
            return True
        except OSError:
            return False


@test
def it_ends_with_the_launcher():
    with Agent() as a:
        p = a.where.popen("run", "--", "sh", "-c", "ssh-add -l >/dev/null; "
                          "echo up; sleep 60")
        p.stdout.readline()
        sock = next(a.where.state.glob("sessions/*/ssh-agent"))
        check(answers(sock), "it is there")
        os.kill(p.pid, signal.SIGKILL)
        p.wait()
        end = time.monotonic() + 30 * live.SLOW
        while answers(sock) and time.monotonic() < end:
            time.sleep(0.05)
        check(not answers(sock), "nobody answers")
        a.where.membrane("--reset=c", "--yes")
