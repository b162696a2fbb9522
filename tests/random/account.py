"""The agent's account, as account.h lays it out."""
import pathlib
import re
import struct



class Any:
    """A value that is not documented, or that nobody can know."""

    def __eq__(self, other):
        return True

    def __repr__(self):
        return "anything"


ANY = Any()


class Among:
    """One of several values."""

    def __init__(self, *values):
        self.values = list(values)

    def __eq__(self, other):
        return other in self.values

    def __repr__(self):
        return "one of %r" % (self.values,)


HERE = pathlib.Path(__file__).resolve().parent
HEAD = struct.Struct("<II4Q6qq8i16s")
CALLS = re.findall(r'^CALL\((\w+), "(\w*)"', (HERE / "calls.def").read_text(),
                   re.M)
NAMES = [name for name, _ in CALLS]
LETTERS = dict(CALLS)


def constants(enum):
    """Their names in account.h, in order."""
    text = (HERE / "account.h").read_text()
    body = re.search(r"enum %s \{(.*?)\}" % enum, text, re.S)[1]
    return re.findall(r"\b((?:ACCOUNT|ITEM)_\w+)",
                      re.sub(r"/\*.*?\*/", "", body, flags=re.S))


KINDS, ENDS, TAGS = map(constants, ("account_kind", "account_end",
                                    "account_tag"))


class Socket:
    def __init__(self, data):
        self.type, self.family, local, peer = struct.unpack_from("<iiII", data)
        self.local = data[16:16 + min(local, 128)]
        self.peer = data[144:144 + min(peer, 128)]


class Record:
    def __init__(self, at, data):
        self.at = at
        (_, kind, self.before, self.after, self.mntns, self.pidns, *rest
         ) = HEAD.unpack_from(data)
        self.args, self.ret = rest[:6], rest[6]
        (self.tid, self.pid, self.ppid, self.uid, *self.cpus, nr,
         self.narrow) = rest[7:15]
        self.comm = rest[15].split(b"\0")[0]
        self.kind = KINDS[kind]
        self.call = NAMES[nr] if self.kind == "ACCOUNT_CALL" else None
        self.items = []
        at = HEAD.size
        while at < len(data):
            tag, i, n = struct.unpack_from("<HHI", data, at)
            self.items.append((TAGS[tag], i, data[at + 8:at + 8 + n]))
            at += 8 + (n + 7 & ~7)

    def all(self, tag, at=None):
        return [data for t, i, data in self.items
                if t == tag and at in (None, i)]

    def one(self, tag, at=None):
        return next(iter(self.all(tag, at)), None)

    @property
    def call_args(self):
        """As the kernel has them: of 32-bit programs half of each."""
        return [x & 0xffffffff if self.narrow else x for x in self.args]

    def socket(self, tag):
        return Socket(self.one(tag))

    @property
    def thread(self):
        return self.pidns, self.tid

    @property
    def process(self):
        return self.pidns, self.pid

    def link(self, at):
        """Where a descriptor leads, or the working directory: 0xffff."""
        gone = self.one("ITEM_DELETED", at)
        if gone is not None:
            return gone.removesuffix(b" (deleted)")
        if at == 0xffff:
            return self.one("ITEM_CWD", at)
        return self.one("ITEM_FD", at)

    def __str__(self):
        said = b" ".join(b"%s[%d]=%r" % (t.encode(), i, d.rstrip(b"\0")[:80])
                         for t, i, d in self.items)
        return "%d: %s %s%s in %d/%d: %s = %d %s" % (
            self.at, self.kind, self.call, "*" * self.narrow, self.pid,
            self.tid, [x & 0xffffffffffffffff for x in self.args], self.ret,
            said.decode("ascii"))


def read(data):
    """All records, in the order in which they were made."""
    used, size = struct.unpack_from("<QQ", data)
    assert used + 16 <= size, "the account has no room for all"
    at, end, records = 16, 16 + used, []
    while at < end:
        n = struct.unpack_from("<I", data, at)[0]
        assert n >= HEAD.size, "a record that was not written"
        records.append(Record(len(records), data[at:at + n]))
        at += n
    return records
