"""Which events a call has to leave in a trace, by doc/trace.md and the fields that
grammar/tracee-events.tsv gives them. Nothing here is read from the tracer."""
import csv
import errno
import ipaddress
import pathlib
import struct

from account import ANY, Among

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
AT_FDCWD = -100
O_ACCMODE, O_CREAT, O_TRUNC, O_PATH = 3, 0o100, 0o1000, 0o10000000
CREAT_FLAGS = 0o1101
FASTOPEN = 0x20000000
AF_UNIX, AF_INET, AF_INET6 = 1, 2, 10
FAMILIES = {0: "AF_UNSPEC", 16: "AF_NETLINK"}
SOCK_STREAM = 1
TEXT_MAX = 4095  # of a text that a process passes
ADDR_MAX = 127
# CLONE_NEW*: of unshare and clone; clone3 has one more.
NEW_SPACES = 0x7e020000
NEW_TIME = 0x80
NEW_PID = 0x20000000


def event_table():
    """{name: (number, [(argument, type)])}"""
    table = {}
    path = ROOT / "grammar/tracee-events.tsv"
    with path.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t",
                                  quoting=csv.QUOTE_NONE):
            number, args = table.setdefault(
                row["event"], (row["event_id_0.24.1"], []))
            if row["arg_index"].isdigit() and not row["last_seen"]:
                args.append((row["arg"], row["type_0.24"]))
    for name in ("sendmsg", "sendmmsg"):
        table[name][1].append(("dest_addr", "SockAddr"))
    table["security_socket_connect"][1].append(("local_port", "uint16"))
    return table


EVENTS = event_table()


def number(kind, value):
    """Of a register, as a type has it."""
    bits, signed = {"int32": (32, True), "int64": (64, True),
                    "uint16": (16, False), "uint32": (32, False)}.get(
                        kind, (64, False))
    value &= (1 << bits) - 1
    return value - (1 << bits) if signed and value >> (bits - 1) else value


# --- paths -------------------------------------------------------------------

def resolve(base, text, root):
    """As asked for: no link is followed, and nothing is above the root."""
    if text[:1] == b"/":
        base = root
    if base is None:
        return text
    if base[:1] != b"/":  # of what is in no folder
        return ANY
    floor = root if root != b"/" and (base + b"/").startswith(
        root + b"/") else b""
    path = b"" if base == b"/" else base
    for part in text.split(b"/"):
        if part == b"..":
            if len(path) > len(floor):
                path = path[:path.rindex(b"/")]
        elif part not in (b"", b"."):
            path += b"/" + part
    return path or b"/"


def text_of(record, at):
    text = record.one("ITEM_TEXT", at)
    return b"" if text is None else text[:TEXT_MAX]


def too_long_for_ring(r):
    """Refused before it is a request."""
    return r.one("ITEM_RING") is not None and any(
        len(t) > TEXT_MAX for t in r.all("ITEM_TEXT"))


def asked_path(record, directory, at):
    """directory: an argument; None: a path without one."""
    root = record.one("ITEM_ROOT") or b"/"
    base = record.link(0xffff)
    if directory is not None and number(
            "int32", record.call_args[directory]) != AT_FDCWD:
        base = record.link(directory)
    return resolve(base, text_of(record, at), root)


def path_of(record, hooked, directory, at):
    """Hooks tell what was found, when it came to them."""
    asked = asked_path(record, directory, at)
    if not hooked:
        # Put together from where things are when the call has ended.
        moves = record.ret == 0 and record.call in ("umount2", "move_mount")
        return ANY if moves and text_of(record, at)[:1] != b"/" else asked
    found = record.all("ITEM_FOUND", at)
    return Among(asked, *found) if found else ANY


# --- addresses ---------------------------------------------------------------

def sockaddr(raw):
    if len(raw) < 2:
        return None
    data = raw[:ADDR_MAX].ljust(128, b"\0")
    family = struct.unpack_from("<H", data)[0]
    port = str(struct.unpack_from(">H", data, 2)[0])
    if family == AF_INET:
        return {"sa_family": "AF_INET", "sin_port": port,
                "sin_addr": str(ipaddress.IPv4Address(data[4:8]))}
    if family == AF_INET6:
        return {"sa_family": "AF_INET6", "sin6_port": port,
                "sin6_addr": ip6(data[8:24]),
                "sin6_flowinfo": str(struct.unpack_from(">I", data, 4)[0]),
                "sin6_scopeid": str(struct.unpack_from("<I", data, 24)[0])}
    if family == AF_UNIX:
        path = data[2:110]
        if not path[0] and path[1]:
            path = b"@" + path[1:]
        return {"sa_family": "AF_UNIX", "sun_path": path.split(b"\0")[0]}
    return {"sa_family": FAMILIES.get(family, str(family))}


def ip6(raw):
    """As inet_ntop has it: with dots where it holds an IPv4 address."""
    address = ipaddress.IPv6Address(raw)
    if address.ipv4_mapped:
        return "::ffff:%s" % address.ipv4_mapped
    low = int.from_bytes(raw[12:], "big")
    if raw[:12] == bytes(12) and low > 0xffff:
        return "::%s" % ipaddress.IPv4Address(low)
    return str(address)


def end_of(family, raw):
    """One end of a socket; of no other family is one told."""
    if family == AF_INET:
        raw = raw or struct.pack("<H", AF_INET)
    elif family == AF_INET6:
        raw = (raw or struct.pack("<H", AF_INET6))[:24]
        raw = raw[:4] + bytes(4) + raw[8:]
    else:
        return None
    return sockaddr(raw)


def place(address):
    """(address, port), or None."""
    if not address:
        return None
    for kind in ("sin", "sin6"):
        if kind + "_addr" in address:
            return address[kind + "_addr"], address[kind + "_port"]
    return None


class Portless(dict):
    """No other end: which address the kernel has kept is its own matter."""

    def __eq__(self, other):
        return bool(place(other)) and place(other)[1] == "0"

    __hash__ = None


def goes_to(said, leads):
    """Is that the same place? 'Any' is this machine to the kernel."""
    a, b = place(said), place(leads)
    return (a and b and said["sa_family"] == leads["sa_family"] and
            a[1] == b[1] and (a[0] == b[0] or a[0] in ("0.0.0.0", "::")))


# --- what a call is told as --------------------------------------------------

# Refused before the kernel looks for a file, or by then.
EITHER = (-errno.EINVAL, -errno.EAGAIN)
EARLY = (-errno.EFAULT, -errno.E2BIG)

# call: (event, ((directory, path), ...)): what was not there is no event
NAMED = {
    "unlink": ("security_inode_unlink", ((None, 0),)),
    "unlinkat": ("security_inode_unlink", ((0, 1),)),
    "rmdir": ("rmdir", ((None, 0),)),
    "rename": ("security_inode_rename", ((None, 0), (None, 1))),
    "renameat": ("security_inode_rename", ((0, 1), (2, 3))),
    "renameat2": ("security_inode_rename", ((0, 1), (2, 3))),
    "symlink": ("security_inode_symlink", ((None, 1),)),
    "symlinkat": ("security_inode_symlink", ((1, 2),)),
    "link": ("link", ((None, 0), (None, 1))),
    "linkat": ("linkat", ((0, 1), (2, 3))),
    "mkdir": ("mkdir", ((None, 0),)), "mkdirat": ("mkdirat", ((0, 1),)),
    "mknod": ("mknod", ((None, 0),)), "mknodat": ("mknodat", ((0, 1),)),
    "chmod": ("chmod", ((None, 0),)),
    "fchmodat": ("fchmodat", ((0, 1),)),
    "fchmodat2": ("fchmodat", ((0, 1),)),
    "chown": ("chown", ((None, 0),)), "lchown": ("lchown", ((None, 0),)),
    "fchownat": ("fchownat", ((0, 1),)),
    "truncate": ("truncate", ((None, 0),)),
}
# The same, and told whatever came of it.
ATTEMPTED = {
    "umount2": ((None, 0),), "pivot_root": ((None, 0), (None, 1)),
    "chroot": ((None, 0),), "open_tree": ((0, 1),),
    "open_tree_attr": ((0, 1),), "move_mount": ((0, 1), (2, 3)),
    "fspick": ((0, 1),), "mount_setattr": ((0, 1),), "acct": ((None, 0),),
    "swapon": ((None, 0),), "swapoff": ((None, 0),),
    "mount": ((None, 1),),
}
AS = {"open_tree_attr": "open_tree"}
# Texts that are no paths.
TEXTS = {"mount": 0, "fsopen": 0, "fsconfig": 2, "delete_module": 0,
         "quotactl": 1, "add_key": 1, "request_key": 1, "memfd_create": 0}
PLAIN = {"fchmod", "fchown", "ftruncate", "fsmount", "ptrace",
         "process_vm_readv", "process_vm_writev", "pidfd_getfd", "bpf",
         "perf_event_open", "userfaultfd", "io_uring_setup", "init_module",
         "finit_module", "kexec_load", "kexec_file_load", "reboot", "iopl",
         "ioperm", "keyctl", "unshare", "setns", "open_by_handle_at"}
SENDS = ("sendto", "sendmsg", "sendmmsg", "write")
OPENS = {"open": (None, 0, 1), "openat": (0, 1, 2), "openat2": (0, 1, 2),
         "creat": (None, 0, None)}
MISSING = (-errno.ENOENT, -errno.ENOTDIR)


class Event:
    """One that has to be there."""

    def __init__(self, record, name, ret, values, **more):
        self.record, self.name, self.ret, self.values = (record, name, ret,
                                                         values)
        self.thread = record.thread
        self.syscall = record.call or ""
        if record.one("ITEM_RING") is not None:
            self.syscall = "io_uring_enter"
        self.compat = bool(record.narrow)
        self.is_first = True  # of the message that the kernel's side sends
        self.reads = False
        self.maybe = False  # it may be missing
        self.comm = record.comm
        self.__dict__.update(more)

    def __str__(self):
        return "%s(%s) = %s in %s" % (self.name, ", ".join(
            "%s=%r" % v for v in self.values.items()), self.ret, self.thread)


class Judge:
    """Of a back end: with hooks names are told as they were found."""

    def __init__(self, back_end):
        self.hooked = back_end != "sys_exit"
        self.hooks_opens = back_end == "fexit"

    def events(self, r):
        """Of one call, in order."""
        if r.call in OPENS:
            return self.opened(r)
        if r.call in NAMED:
            return self.named(r)
        if r.call in ATTEMPTED:
            return [self.plain(r, ATTEMPTED[r.call])]
        if r.call in TEXTS or r.call in PLAIN:
            return [self.plain(r)]
        if r.call in ("connect", "bind", "listen", "accept", "accept4"):
            return self.socket(r)
        if r.call in SENDS:
            # Hooks tell of a message that was refused as well.
            return [] if self.hooked and r.call == "sendmmsg" else self.sent(r)
        if r.call in ("clone", "clone3"):
            return self.cloned(r)
        return []

    # --- programs

    def no_program(self, r):
        """One that could not be run; of its arguments only the path is
        told."""
        directory, path = r.args[0], text_of(r, 0)
        if r.ret in MISSING:
            return []
        values = dict.fromkeys((a for a, _ in EVENTS[r.call][1]), ANY)
        if r.call == "execve" or path[:1] == b"/" or directory == AT_FDCWD:
            values["pathname"] = resolve(r.link(0xffff), path,
                                         r.one("ITEM_ROOT") or b"/")
        return [Event(r, r.call, r.ret, values)]

    # --- files

    def open_flags(self, r, at):
        if at is None:
            return CREAT_FLAGS
        if r.call == "openat2":
            how = r.one("ITEM_HOW")
            return struct.unpack_from("<Q", how)[0] if how else 0
        return r.call_args[at]

    def file(self, r):
        """(dev, inode, mode): as the kernel has a device, in 12 and 20
        bits."""
        inode, dev, mode, _ = struct.unpack("<QQII", r.one("ITEM_FILE"))
        major = (dev >> 8 & 0xfff) | (dev >> 32 & ~0xfff)
        minor = (dev & 0xff) | (dev >> 12 & ~0xff)
        return major << 20 | minor, inode, mode & 0xffff

    def opened(self, r):
        directory, at, flags_at = OPENS[r.call]
        flags = self.open_flags(r, flags_at)
        if r.ret in MISSING or too_long_for_ring(r):
            return []
        values = {"flags": number("int32", flags), "ctime": 0,
                  "syscall_pathname": text_of(r, at)}
        if r.ret < 0 or r.one("ITEM_RING") is not None:
            values.update(pathname=asked_path(r, directory, at), dev=0,
                          inode=0)
        else:
            dev, inode, _ = self.file(r)
            values.update(pathname=r.link(0xfffe), dev=dev, inode=inode)
        reads = r.ret >= 0 and not (
            flags & (O_CREAT | O_TRUNC) or
            flags & O_ACCMODE and not flags & O_PATH)
        if self.hooks_opens and (r.ret in EARLY or len(
                r.one("ITEM_TEXT", at) or b"") > TEXT_MAX):
            return []
        if self.hooks_opens and r.call == "openat2":
            values["flags"] = ANY  # as the kernel has made them
        leaf = r.link(0xfffe) or b""
        return [Event(r, "security_file_open", min(r.ret, 0), values,
                      reads=reads, leaf=leaf.rpartition(b"/")[2],
                      maybe=self.hooks_opens and r.ret in EITHER)]

    def named(self, r):
        name, places = NAMED[r.call]
        if r.ret in MISSING or too_long_for_ring(r):
            return []
        paths = [path_of(r, self.hooked, *p) for p in places]
        if name == "security_inode_unlink":
            values = {"pathname": paths[0], "inode": 0, "dev": 0, "ctime": 0}
        elif name == "security_inode_rename":
            values = {"old_path": paths[0], "new_path": paths[1]}
        elif name == "security_inode_symlink":
            values = {"linkpath": paths[0], "target": text_of(r, 0)}
        else:
            return [self.plain(r, places)]
        return [Event(r, name, r.ret, values)]

    def plain(self, r, places=()):
        """Under its own name, with its own arguments."""
        name = NAMED.get(r.call, (AS.get(r.call, r.call),))[0]
        values = {}
        paths = {p[1]: p for p in places}
        for k, (arg, kind) in enumerate(EVENTS[name][1]):
            if k in paths:
                values[arg] = path_of(r, self.hooked, *paths[k])
            elif TEXTS.get(r.call) == k:
                values[arg] = text_of(r, k)
            elif kind == "string":
                values[arg] = b""
            else:
                values[arg] = number(kind, r.call_args[k] if k < 6 else 0)
        if r.one("ITEM_RING") is not None:  # it has paths, and no numbers
            values = {k: v if isinstance(v, (bytes, Among)) else ANY
                      for k, v in values.items()}
        return Event(r, name, r.ret, values)

    def cloned(self, r):
        flags, new = r.call_args[0], NEW_SPACES
        if r.call == "clone3":
            how = r.one("ITEM_FLAGS")
            flags = struct.unpack("<Q", how)[0] if how else NEW_SPACES
            new |= NEW_TIME
        return [self.plain(r)] if r.ret and flags & new else []

    # --- sockets

    def remote(self, r, after, said):
        """Where it leads to, when that is known and something else."""
        leads = end_of(after.family, after.peer)
        port = place(leads)[1] if leads and after.peer else "0"
        if min(r.ret, 0) not in (0, -errno.EINPROGRESS) or port == "0" or (
                said and goes_to(said, leads)):
            return said
        return leads

    @staticmethod
    def own_port(after):
        at = place(end_of(after.family, after.local))
        return int(at[1]) or None if at else None

    def socket(self, r):
        before = r.socket("ITEM_SOCKET")
        after = r.socket("ITEM_AFTER")
        fd = {"sockfd": number("int32", r.call_args[0])}
        said = sockaddr(r.one("ITEM_ADDR") or b"")
        if r.call == "connect":
            return [Event(r, "security_socket_connect", r.ret, {
                **fd, "type": max(before.type, 0),
                "remote_addr": self.remote(r, after, said),
                "local_port": self.own_port(after)})]
        if r.call == "bind":
            return [Event(r, "security_socket_bind", r.ret,
                          {**fd, "local_addr": said})]
        at = end_of(before.family, after.local)
        if at and r.ret < 0:  # no port any more, whatever its name was
            at = Among(at, {k: "0" if k.endswith("port") else v
                            for k, v in at.items()})
        local = {**fd, "local_addr": at}
        if r.call == "listen":
            return [Event(r, "security_socket_listen", r.ret, {
                **local, "backlog": number("int32", r.call_args[1])})]
        if r.ret == -errno.EAGAIN:
            return []
        return [Event(r, "security_socket_accept", r.ret, local)]

    def is_fast(self, r, before):
        at = {"sendto": 3, "sendmsg": 2, "sendmmsg": 3}.get(r.call)
        return (at is not None and r.call_args[at] & FASTOPEN and
                before.type == SOCK_STREAM and
                before.family in (AF_INET, AF_INET6))

    def sent(self, r):
        before = r.socket("ITEM_SOCKET")
        after = r.socket("ITEM_AFTER")
        messages = self.messages(r)
        if self.is_fast(r, before):
            said = messages[0][1] if messages else None
            return [Event(r, "security_socket_connect", min(r.ret, 0), {
                "sockfd": number("int32", r.call_args[0]),
                "type": before.type,
                "remote_addr": self.fast(r, after, said),
                "local_port": self.own_port(after)})]
        if before.type in (-1, SOCK_STREAM) or before.family not in (
                AF_INET, AF_INET6):
            return []
        if r.call == "write":
            return self.questions(r, after, messages[:r.ret >= 0])
        return self.addressed(r, after, messages)

    def fast(self, r, after, said):
        leads = end_of(after.family, after.peer)
        if not after.peer:
            # It may have tried: where, is what the kernel knew then.
            return ANY
        return self.remote(r, after, said)

    def messages(self, r):
        """[(data, address)] of those that were to be sent."""
        if r.call == "write":
            return [(self.written(r), None)]
        if r.call == "sendto":
            return [(self.written(r), sockaddr(r.one("ITEM_ADDR") or b""))]
        found = []
        for tag, at, data in r.items:
            if tag == "ITEM_MESSAGE":
                found.append((data, sockaddr(
                    r.one("ITEM_ADDR", at) or b"")))
        return found

    def written(self, r):
        return r.one("ITEM_MESSAGE") or b""

    def addressed(self, r, after, messages):
        """An event for each address in a row, the last with what the call
        returned; behind each what was asked there. To say the socket's own
        is something else than to say none."""
        peer = end_of(after.family, after.peer)
        if peer and not after.peer:  # it has none, or one without a port
            peer = Portless(peer)
        n = max(r.ret, 1) if r.call == "sendmmsg" else 1
        rows = []
        for message in messages[:n] or [(b"", None)]:
            if not rows or rows[-1][0] != message[1]:
                rows.append((message[1], []))
            rows[-1][1].append(message)
        events = []
        for i, (address, sent) in enumerate(rows):
            e = self.plain(r)
            e.values["dest_addr"] = address or peer
            e.ret = r.ret if i == len(rows) - 1 else 1
            events += [e] + self.questions(r, after, sent * (r.ret >= 0))
        return events

    def questions(self, r, after, messages):
        events = []
        for data, address in messages:
            to = address or end_of(after.family, after.peer)
            question = parse_question(data)
            if not question or not place(to) or place(to)[1] != "53":
                continue
            events.append(Event(r, "net_packet_dns_request", 0, {
                "metadata": Packet(to, len(data)),
                "dns_questions": [question]}, syscall="",
                is_first=r.call == "write"))
        return events


class Packet:
    """Where a question went; the socket's own end may have no port yet."""

    def __init__(self, to, n):
        self.to, self.n = place(to), n

    def __eq__(self, other):
        return (other["dst_ip"], str(other["dst_port"])) == self.to and (
            other["packet_len"], other["protocol"], other["iface"]) == (
                self.n, 17, "any")

    def __repr__(self):
        return "%d bytes to %s" % (self.n, self.to)


TYPES = {1: "A", 28: "AAAA", 12: "PTR", 15: "MX", 16: "TXT", 65: "HTTPS"}


def parse_question(data):
    """The one that the agent asks: one name, one type, class IN."""
    if len(data) < 12 or data[2:12] != b"\1\0\0\1\0\0\0\0\0\0":
        return None
    labels, at = [], 12
    while at < len(data) and data[at]:
        labels.append(data[at + 1:at + 1 + data[at]].decode("latin-1"))
        at += 1 + data[at]
    if len(data) < at + 5:
        return None
    kind, cls = struct.unpack_from(">HH", data, at + 1)
    return {"query": ".".join(labels), "query_type": TYPES.get(kind, "other"),
            "query_class": "IN" if cls == 1 else "other"}
