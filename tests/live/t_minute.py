"""From nothing to an agent that has edited a file: a bare Debian root gets the
packages, and a user in the group `docker` types one command and a `y`. Seconds
and keystrokes are told as notes."""
import re
import subprocess
import time

import live
from live import HERE, ROOT, SLOW, Place, Skip, check
from t_profiles import KEY, image, in_vain
from terminal import Terminal

test = live.docker_only("an image is built")

TOP, DEBS = ROOT / "build/deb-root", ROOT / "build/deb"
PROMPT = "edit notes.txt: mine -> ours"
# $1 the bare root, which stays as it is: what changes is above it and goes with
# this process; $2 the user's home, at the same path in there, $3 Docker's socket,
# $4 the packages, $5 and $6 user and group. membrane is not installed before.
ENTER = """set -e
bare=$1 home=$2 docker=$3 debs=$4 user=$5 group=$6
mount -t tmpfs tmpfs /mnt
mkdir /mnt/upper /mnt/work /mnt/root
mount -t overlay overlay \\
	-o "lowerdir=$bare,upperdir=/mnt/upper,workdir=/mnt/work" /mnt/root
root=/mnt/root
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --rbind /sys "$root/sys"
mkdir -p "$root$home" "$root/debs"
mount --bind "$home" "$root$home"
mount --bind "$debs" "$root/debs"
: >"$root/run/docker.sock"
mount --bind "$docker" "$root/run/docker.sock"
PATH=/usr/sbin:/usr/bin:/sbin:/bin
chroot "$root" dpkg --purge membrane membrane-images >/dev/null 2>&1
! chroot "$root" sh -c 'command -v membrane' || exit 1
chroot "$root" sh -c 'groupmod --gid "$1" docker && useradd --uid "$2" \\
	--no-create-home --home-dir "$3" --shell /bin/bash --groups docker dev' \\
	sh "$group" "$user" "$home"
echo the root is bare
chroot "$root" sh -c 'dpkg -i /debs/membrane_*.deb /debs/membrane-images_*.deb' \\
	>/dev/null 2>&1
exec chroot "$root" setpriv --reuid dev --regid docker --init-groups \\
	env -i -C "$home/project" HOME="$home" USER=dev TERM=xterm LC_ALL=C.UTF-8 \\
	PATH=/usr/bin:/bin PS1='ready> ' ANTHROPIC_API_KEY=%s CODEX_API_KEY=none \\
	bash --norc --noprofile -i
""" % KEY


class Newcomer(Place):
    """At a shell in that root, in a home where membrane never was."""

    def __init__(self):
        super().__init__(files={"notes.txt": "mine\n"})
        self.state = self.root / ".membrane"
        self.keys = 0

    def shell(self):
        return Terminal(live.the.enter(
            "unshare", "-m", "--propagation", "slave", "sh", "-c", ENTER, "sh",
            str(TOP), str(self.root),
            live.the.docker_host.removeprefix("unix://"), str(DEBS),
            live.the.user, live.the.group), 40, 120)

    def types(self, terminal, text):
        terminal.type(text.encode() + b"\r")
        self.keys += len(text) + 1


def in_a_minute(name, command):
    if not (TOP / "usr/bin/membrane").exists():
        raise Skip("nothing is installed: tests/check/deb")
    image(name)   # what is downloaded and built once
    try:
        # The others are built by what is installed, as on any new machine.
        live.the.docker("rmi", "-f", "membrane-gate", "membrane-watch",
                        "membrane-view")
        with Newcomer() as where, where.shell() as t:
            worked(where, t, name, command)
    finally:
        # Those of this world trust its certificates.
        subprocess.run([HERE / "world.sh", "images"], check=True)


def worked(where, t, name, command):
    check(t.shows(rb"the root is bare", 60 * SLOW), "a root", t.all)
    begin = time.monotonic()
    if not check(t.shows(rb"ready> ", 60 * SLOW), "the packages", t.all):
        return
    installed = time.monotonic()
    where.types(t, command)
    if not check(t.shows(rb"Add that, and run it\? \[y/N\] ", 30 * SLOW),
                 "it asks once", t.all[-3000:]):
        return
    where.types(t, "y")
    check(t.shows(rb"hello from the model", 120 * SLOW), "it answers",
          t.all[-3000:])
    check(t.shows(rb"ready> ", 60 * SLOW), "and ends", t.all[-3000:])
    end = time.monotonic()
    text = (where.work / "notes.txt").read_text()
    check(text == "ours\n", "the file of the host is edited",
          (text, t.all[-3000:]))
    check(t.all.count(b"[y/N]") == 1, "nothing else was asked", t.all)
    check(all(b"building the image membrane-" + part in t.all
              for part in (b"gate", b"watch", b"view")),
          "what every session has came of the packages", t.all[:3000])
    check((where.work / ".membrane.yaml").read_text() ==
          "extends:\n  - %s\n" % name, "its profile is in the policy")
    check(not re.search(rb"add to 'allow'", t.all), "nothing is advised",
          t.all[-3000:])
    live.notes.append("%.1f s to install, %.1f s from the command to its end, "
                      "%d keystrokes" % (installed - begin, end - installed,
                                         where.keys))
    in_vain(where.decisions())
    t.type(b"exit\r")
    check(t.ends(20 * SLOW) is not None, "the shell ends", t.all[-500:])


@test
def claude():
    in_a_minute("claude", "membrane -e ANTHROPIC_API_KEY claude "
                "--permission-mode acceptEdits -p '%s'" % PROMPT)


@test
def codex():
    in_a_minute("codex", "membrane -e CODEX_API_KEY codex exec "
                "--skip-git-repo-check -m gpt-5-codex '%s'" % PROMPT)


@test
def opencode():
    in_a_minute("opencode", "membrane -e ANTHROPIC_API_KEY "
                "--allow api.anthropic.com:443 opencode run "
                "-m anthropic/claude-sonnet-4-5 '%s'" % PROMPT)


@test
def pi():
    in_a_minute("pi", "membrane -e ANTHROPIC_API_KEY pi --provider anthropic "
                "-p '%s'" % PROMPT)
