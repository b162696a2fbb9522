"""One name for each set of patterns that can match together.

A pattern reads labels from the right, and asks of each whether it is the one
that it has written: so all names that lead through the same states are alike,
and one of each stands for them. A label that is written nowhere is among them.
"""
FRESH = "unwritten"
DEEP = -1      # behind the labels of a "**": one label more at least is wanted
DEEPER = -2    # had it


class Automaton:
    def __init__(self, patterns):
        self.patterns = sorted(set(patterns))
        self.labels, self.deep = [], []
        for p in self.patterns:
            labels = p.split(".")[::-1]
            self.deep.append(labels[-1] == "**")
            self.labels.append(labels[:-1] if self.deep[-1] else labels)
        written = {l for ls in self.labels for l in ls}
        self.fresh = FRESH
        while self.fresh in written:
            self.fresh += "x"

    def start(self):
        return frozenset((i, self.at(i, 0)) for i in range(len(self.patterns)))

    def at(self, i, n):
        return DEEP if self.deep[i] and n == len(self.labels[i]) else n

    def written(self, state):
        return {self.labels[i][n] for i, n in state
                if 0 <= n < len(self.labels[i])} - {"*"}

    def step(self, state, label):
        out = set()
        for i, n in state:
            if n < 0:
                out.add((i, DEEPER))
            elif n < len(self.labels[i]) and self.labels[i][n] in ("*", label):
                out.add((i, self.at(i, n + 1)))
        return frozenset(out)

    def matched(self, state):
        return frozenset(
            i for i, n in state
            if n == DEEPER or n == len(self.labels[i]) and not self.deep[i])


def representatives(patterns):
    """Names, the shortest of each set of patterns; the empty set's too."""
    machine = Automaton(patterns)
    names, known = {}, set()
    front = [(machine.start(), ())]
    while front:
        state, labels = front.pop(0)
        for label in sorted(machine.written(state)) + [machine.fresh]:
            after, path = machine.step(state, label), (label,) + labels
            names.setdefault(machine.matched(after), ".".join(path))
            if after not in known:
                known.add(after)
                front.append((after, path))
    return sorted(names.values())
