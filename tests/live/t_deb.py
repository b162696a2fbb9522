"""What tests/check/deb has installed in a bare Debian root builds the images and
runs a session, against the sealed Docker of this world."""
import subprocess

import live
from live import HERE, ROOT, Place, Skip, check, session, test

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
	LC_ALL=C.UTF-8 PATH=/usr/bin:/bin "$@"
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
