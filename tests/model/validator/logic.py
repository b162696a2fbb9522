"""Conditions: Python's own truth where it is known already, z3's where not.

A packet of which everything is known is walked by the same code as one of
which nothing is: what is known is folded, so z3 sees only what is left.
"""
import z3

# Of one plan, since numbers of z3's are asked for again and again; made by
# z3's own functions, of which Python's look at each part several times.
CONTEXT = z3.main_ctx()
KNOWN = {}


def forget():
    KNOWN.clear()


def made(function, parts):
    asts = (z3.Ast * len(parts))(*(p.ast for p in parts))
    return z3.BoolRef(function(CONTEXT.ref(), len(parts), asts), CONTEXT)


def both(*parts):
    left = []
    for p in parts:
        if p is False:
            return False
        if p is not True:
            left.append(p)
    return True if not left else left[0] if len(left) == 1 else made(
        z3.Z3_mk_and, left)


def either(*parts):
    left = []
    for p in parts:
        if p is True:
            return True
        if p is not False:
            left.append(p)
    return False if not left else left[0] if len(left) == 1 else made(
        z3.Z3_mk_or, left)


def no(part):
    if isinstance(part, bool):
        return not part
    return z3.BoolRef(z3.Z3_mk_not(CONTEXT.ref(), part.ast), CONTEXT)


def within(value, lo, hi):
    """lo <= value <= hi, of numbers without a sign."""
    if isinstance(value, int):
        return lo <= value <= hi
    key = (value.ast.value, lo, hi)
    if key not in KNOWN:
        KNOWN[key] = value, interval(value, lo, hi)
    return KNOWN[key][1]


def interval(value, lo, hi):
    width = value.size()
    top = (1 << width) - 1
    if lo == 0 and hi >= top:
        return True
    if lo > hi or lo > top:
        return False
    if lo == hi:
        return value == lo
    size = hi - lo + 1
    if size & (size - 1) == 0 and lo % size == 0:
        shift = size.bit_length() - 1
        return z3.Extract(width - 1, shift, value) == lo >> shift
    return z3.And(z3.UGE(value, lo), z3.ULE(value, hi))


def first_of(rules):
    """[(condition, what)] of which the first that holds counts, as such of
    which one holds at most; conditions that cannot hold are left out."""
    reach, apart = True, []
    for condition, what in rules:
        here = both(reach, condition)
        if here is not False:
            apart.append((here, what))
        reach = both(reach, no(condition))
        if reach is False:
            break
    return apart


def gathered(rules):
    """{what: condition} of [(condition, what)]."""
    by = {}
    for condition, what in rules:
        by.setdefault(what, []).append(condition)
    return {what: either(*conditions) for what, conditions in by.items()}
