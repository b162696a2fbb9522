"""What tests/check/deb has installed in a bare Debian root builds the images and
runs a session, against the sealed Docker of this world; and as a dev container,
with a Docker of its own."""
import pathlib
import subprocess

import live
from live import HERE, ROOT, SLOW, Place, Skip, check, session

test = live.docker_only("its images are built of packages")

TOP = ROOT / "build/deb-root"
# $1 the root, $2 what has to be at the same path in there, $3 Docker's socket,
# $4 and $5 user and group. The mounts go with this process; what a container
# mounts in place comes through to it, as it does to a user of the host.
ENTER = """set -e
root=$1 place=$2 docker=$3 user=$4 group=$5
shift 5
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --rbind /sys "$root/sys"
mkdir -p "$root$place"
mount --bind "$place" "$root$place"
: >"$root/run/docker.sock"
mount --bind "$docker" "$root/run/docker.sock"
exec chroot "$root" setpriv --reuid "$user" --regid "$group" --clear-groups \\
	env -i -C "$place/project" HOME="$place" MEMBRANE_HOME="$place/state" \\
	LC_ALL=C.UTF-8 PATH=/usr/bin:/bin MEMBRANE_ENGINE=docker "$@"
"""


class Installed(Place):
    """Where /usr/bin/membrane of the root is at work."""

    def argv(self, *args):
        return live.the.enter(
            "unshare", "-m", "--propagation", "slave", "sh", "-c", ENTER, "sh",
            str(TOP), str(self.root),
            live.the.docker_host.removeprefix("unix://"),
            live.the.user, live.the.group, "/usr/bin/membrane", *args)

    def remove(self):
        super().remove()
        (TOP / str(self.root)[1:]).rmdir()


@test
def installed_packages_run_a_session():
    if not (TOP / "usr/bin/membrane").exists():
        raise Skip("nothing is installed: tests/check/deb")
    try:
        with Installed("allow: [site.test]") as where:
            done = where.membrane("images", timeout=180)
            check(done.status == 0, "the images are there", done.stderr)
            check(all("image membrane-" + name in done.stderr
                      for name in ("gate", "watch", "view")),
                  "they are built of what was installed", done.stderr)
            done = where.membrane("doctor")
            check(done.status == 0, "the doctor is content", done.stdout)
            s = session(None, [["get", "https://site.test/"],
                               ["get", "https://other.test/"]], place=where)
            check(s.status == 0, "the session ended well", s.stderr)
            check(s.tried[0]["ok"], "what is granted answers", s.tried[0])
            check(not s.tried[1]["ok"], "what is not does not", s.tried[1])
            check(s.arrived(sni="site.test") and not s.arrived(
                sni="other.test"), "so it is seen from out there", s.out)
    finally:
        # Those of this world trust its certificates.
        subprocess.run([HERE / "world.sh", "images"], check=True)


# What a privileged container has and needs here, where the machine that the
# test runs on lacks a capability, and so may give nobody all of them.
MOST = ("CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID "
        "SETPCAP NET_BIND_SERVICE NET_ADMIN NET_RAW IPC_LOCK SYS_CHROOT "
        "SYS_PTRACE SYS_ADMIN SYS_NICE MKNOD SETFCAP AUDIT_WRITE "
        "SYSLOG").split()
CAP_LAST = int(pathlib.Path("/proc/sys/kernel/cap_last_cap").read_text())


def privileges():
    status = pathlib.Path("/proc/self/status").read_text()
    bounds = int(status.partition("CapBnd:")[2].split()[0], 16)
    if bounds == (2 << CAP_LAST) - 1:
        return ["--privileged"]
    return [*("--cap-add=" + c for c in MOST), "--device=/dev/fuse",
            "--security-opt=seccomp=unconfined",
            "--security-opt=systempaths=unconfined",
            "--volume=/sys/fs/cgroup:/sys/fs/cgroup"]


INSIDE = """set -e
cd /project
until docker version >/dev/null 2>&1; do sleep 0.1; done
docker load -q </images.tar >/dev/null
membrane doctor >/dev/null
membrane run --no-trace -- sh -c 'cat .env; echo made >inside'
"""


@test
def a_dev_container_runs_a_session():
    if not (TOP / "usr/bin/membrane").exists():
        raise Skip("nothing is installed: tests/check/deb")
    image = "membrane-dev-container"
    with Place("ignore: [.env]") as where:
        saved = where.root / "images.tar"
        (where.work / ".env").write_text("secret\n")
        live.the.docker("save", "-o", str(saved), "membrane-agent",
                        "membrane-gate", "membrane-watch", "membrane-view")
        try:
            made = subprocess.run(live.the.enter(
                "sh", "-c", 'tar --exclude=./debs -C "$1" -c . | '
                'docker -H "$2" import - "$3"', "sh", str(TOP),
                live.the.docker_host, image), check=False, text=True,
                capture_output=True)
            check(made.returncode == 0, "an image of the root", made.stderr)
            done = subprocess.run(
                ["docker", "-H", live.the.docker_host, "run", "--rm",
                 "--network=none", "--env=MEMBRANE_ENGINE=docker",
                 *privileges(), "--volume=/var/lib/docker",
                 "--volume=%s:/images.tar:ro" % saved,
                 "--volume=%s:/project" % where.work,
                 "--volume=%s:/feature:ro" % (
                     ROOT / "image/hosts/devcontainer"), image,
                 "/feature/entrypoint.sh", "sh", "-c", INSIDE],
                check=False, text=True, capture_output=True,
                timeout=180 * SLOW)
            check(done.returncode == 0, "a session in it",
                  done.stdout + done.stderr)
            check("secret" not in done.stdout, "with a view", done.stdout)
            check("read .env" in done.stderr, "which tells", done.stderr)
            check((where.work / "inside").read_text() == "made\n",
                  "the project is the host's")
        finally:
            live.the.docker("rmi", "-f", image, check_it=False)
