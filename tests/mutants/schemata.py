#!/usr/bin/python3
"""Mutants of C sources, all of a file in one: schemata.py TREE FILE...

Rewrites the files below TREE, a copy of the repository, and writes
TREE/mutants.json: of each mutant its number, place, function, kind and text.
What is mutated, in the bodies of functions and nowhere inside a macro:

    true, false  a condition, or an operand of && and ||, is always so; not
                 what the whole condition would say, too, and no loop forever
    border       < for <=, > for >=, and the other way around
    operator     + for -, | for &, and the other way around
    gone         a call whose result nobody wants, or an assignment, is left out
    answer       of a function of bool: the other one; not false of a function
                 that refuses, and so answers nothing else

clang reads the sources (python3-clang), so that a place is one of the grammar
and not of a pattern. A file that does not compile with all of its mutants loses
those in the lines that the compiler names.
"""
import collections
import json
import os
import pathlib
import subprocess
import sys

from clang.cindex import Config, CursorKind, Index, TranslationUnit, TypeKind

FLAGS = ["-I.", "-Ibuild/gen", "-D_GNU_SOURCE", '-DMEMBRANE_PREFIX="/"',
         "-std=gnu17"]
SWAPS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "+": "-", "-": "+",
         "|": "&", "&": "|"}
BORDERS = ("<", "<=", ">", ">=")
WHOLE = {"&&": "false", "||": "true"}  # what one operand alone would not say
ROUNDS = 12
# A call that does not return says nothing by being left out but of itself.
KEPT = {"abort", "exit", "_exit", "free"}
SKIPPED = {CursorKind.CASE_STMT: 1}


class File:
    def __init__(self, tree, path, index):
        self.tree, self.path = tree, path
        self.bytes = (tree / path).read_bytes()
        unit = index.parse(path, FLAGS, options=TranslationUnit.
                           PARSE_DETAILED_PROCESSING_RECORD)
        errors = [d for d in unit.diagnostics if d.severity >= 3]
        if errors:
            sys.exit("%s: %s" % (path, errors[0]))
        self.macros, self.found, self.refusing = set(), [], set()
        own = [c for c in unit.cursor.get_children()
               if str(c.location.file) == path]
        self.macros = {c.extent.start.offset for c in own
                       if c.kind == CursorKind.MACRO_INSTANTIATION}
        for c in own:
            if c.kind == CursorKind.FUNCTION_DECL and c.is_definition():
                if self.refuses(c):
                    self.refusing.add(c.spelling)
                self.function(c)

    def text(self, beg, end):
        return self.bytes[beg:end].decode("utf-8", "replace")

    def span(self, c):
        return c.extent.start.offset, c.extent.end.offset

    def in_macro(self, c):
        return c.extent.start.offset in self.macros

    def add(self, c, kind, was="", at=None):
        beg, end = self.span(c)
        self.found.append({
            "file": self.path, "line": c.extent.start.line,
            "last": c.extent.end.line, "function": self.name, "kind": kind,
            "text": " ".join(self.text(beg, end).split())[:120],
            "span": (beg, end), "was": was, "at": at})

    def is_refusal(self, c):
        """A call of a function that answers false and nothing else."""
        while c.kind in (CursorKind.PAREN_EXPR, CursorKind.UNEXPOSED_EXPR):
            inside = list(c.get_children())
            if len(inside) != 1:
                return False
            c = inside[0]
        return c.kind == CursorKind.CALL_EXPR and c.spelling in self.refusing

    def refuses(self, c):
        values = [list(x.get_children()) for x in c.walk_preorder()
                  if x.kind == CursorKind.RETURN_STMT]
        return bool(values) and all(
            v and (self.text(*self.span(v[0])) == "false" or
                   self.is_refusal(v[0])) for v in values)

    def function(self, c):
        self.name = c.spelling
        self.is_bool = c.result_type.get_canonical().kind == TypeKind.BOOL
        for child in c.get_children():
            if child.kind == CursorKind.COMPOUND_STMT:
                self.walk(child)

    # --- conditions ---------------------------------------------------------

    def operator(self, c):
        """Of a binary operator as it is written: its text and place; None
        where a macro wrote it."""
        sides = list(c.get_children())
        if c.kind != CursorKind.BINARY_OPERATOR or len(sides) != 2:
            return None
        beg, end = self.span(sides[0])[1], self.span(sides[1])[0]
        if beg >= end or any(self.in_macro(s) for s in sides):
            return None
        op = self.text(beg, end)
        return op.strip(), beg + op.index(op.strip()[:1]), sides

    def operands(self, c):
        """Those of && and ||, through parentheses, as a list of (operand, what
        it is not made); the condition itself where it is neither."""
        inner = c
        while inner.kind in (CursorKind.PAREN_EXPR, CursorKind.UNEXPOSED_EXPR):
            inside = list(inner.get_children())
            if len(inside) != 1:
                break
            inner = inside[0]
        op = self.operator(inner)
        if not op or op[0] not in WHOLE:
            return [], None
        return op[2], WHOLE[op[0]]

    def condition(self, c, loops=False):
        if self.in_macro(c):
            return
        sides, spared = self.operands(c)
        kinds = [k for k in ("true", "false") if not (loops and k == "true")]
        if not sides:
            for kind in kinds:
                if kind == "true" or not self.is_refusal(c):
                    self.add(c, kind)
            return
        if spared in kinds:
            self.add(c, spared)
        self.split(sides, spared)

    def split(self, sides, spared):
        """Each operand is what leaves the decision to the other one."""
        for s in sides:
            below, kind = self.operands(s)
            if not below:
                self.add(s, "false" if spared == "true" else "true")
            elif kind == spared:
                self.split(below, kind)
            else:
                self.add(s, "false" if spared == "true" else "true")
                self.split(below, kind)

    # --- statements ---------------------------------------------------------

    def is_number(self, c):
        kind = c.type.get_canonical().kind
        return TypeKind.CHAR_U.value <= kind.value <= TypeKind.INT128.value

    def expression(self, c):
        op = self.operator(c)
        if not op or op[0] not in SWAPS:
            return
        text, at, sides = op
        if text in BORDERS or all(self.is_number(s) for s in sides):
            self.add(c, "border" if text in BORDERS else "operator", text, at)

    def is_dropped(self, c):
        if self.in_macro(c):
            return False
        if c.kind == CursorKind.CALL_EXPR:
            return c.spelling not in KEPT
        if c.kind == CursorKind.BINARY_OPERATOR:
            op = self.operator(c)
            return op is not None and op[0] == "="
        return c.kind == CursorKind.COMPOUND_ASSIGNMENT_OPERATOR

    def statement(self, c):
        if self.is_dropped(c):
            self.add(c, "gone")

    def answer(self, c):
        for value in c.get_children():
            text = self.text(*self.span(value))
            if text in ("true", "false"):
                self.add(value, "false" if text == "true" else "true")
            else:
                self.condition(value)

    def walk(self, c):
        children = list(c.get_children())
        kind = c.kind
        if self.in_macro(c):
            # of a loop that a macro writes, what stands behind it
            children = [x for x in children
                        if x.kind == CursorKind.COMPOUND_STMT]
        elif kind == CursorKind.COMPOUND_STMT:
            for x in children:
                self.statement(x)
        elif kind == CursorKind.IF_STMT:
            self.condition(children[0])
            for x in children[1:]:
                self.statement(x)
        elif kind == CursorKind.WHILE_STMT:
            self.condition(children[0], loops=True)
            self.statement(children[1])
        elif kind == CursorKind.CONDITIONAL_OPERATOR:
            self.condition(children[0])
        elif kind == CursorKind.RETURN_STMT and self.is_bool:
            self.answer(c)
        elif kind in (CursorKind.CXX_UNARY_EXPR, CursorKind.StmtExpr):
            return
        elif kind == CursorKind.CASE_STMT:
            children = children[1:]
        elif kind == CursorKind.DECL_STMT:
            children = [x for x in children if x.kind == CursorKind.VAR_DECL
                        and x.storage_class.name != "STATIC"
                        and x.type.kind not in (TypeKind.CONSTANTARRAY,
                                                TypeKind.VARIABLEARRAY)]
        else:
            self.expression(c)
        for x in children:
            self.walk(x)


# --- writing ----------------------------------------------------------------

def opened(m):
    n = m["n"]
    if m["kind"] in ("border", "operator"):
        return "MUTANT_OP(%d, %s, %s, +(" % (n, m["was"], SWAPS[m["was"]])
    return "MUTANT_%s(%d, " % (m["kind"].upper(), n)


def rewrite(source, mutants):
    """Insertions at offsets; of those at one place the outer opens first and
    closes last."""
    puts = []
    for i, m in enumerate(mutants):
        beg, end = m["span"]
        size = end - beg
        puts.append((beg, 1, -size, i, opened(m).encode()))
        if m["at"] is None:
            puts.append((end, 0, size, -i, b")"))
        else:
            puts.append((m["at"], 2, 0, i, b"), +("))
            puts.append((end, 0, size, -i, b"))"))
    skip = {m["at"]: len(m["was"]) for m in mutants if m["at"] is not None}
    out, at = [b'#include "tests/mutants/mutant.h"\n'], 0
    for place, kind, _, _, text in sorted(puts):
        out.append(source[at:place])
        out.append(text)
        at = max(at, place)
        if kind == 2:
            at = place + skip[place]
    out.append(source[at:])
    return b"".join(out)


def refused_lines(tree, path):
    """Of the compiler: lines with errors, one up for what was put in front."""
    cc = subprocess.run(["gcc", *FLAGS, "-w", "-fsyntax-only", path], cwd=tree,
                        capture_output=True, text=True)
    return {int(x.split(":")[1]) - 1 for x in cc.stderr.splitlines()
            if x.startswith(path + ":") and " error: " in x}


def settle(file, mutants):
    """What compiles of them; the file is written so."""
    for _ in range(ROUNDS):
        (file.tree / file.path).write_bytes(rewrite(file.bytes, mutants))
        lines = refused_lines(file.tree, file.path)
        if not lines:
            return mutants
        mutants = [m for m in mutants
                   if not any(m["line"] <= x <= m["last"] for x in lines)]
    (file.tree / file.path).write_bytes(file.bytes)
    return []


def main():
    tree, files = pathlib.Path(sys.argv[1]), sys.argv[2:]
    os.chdir(tree)
    tree, index = pathlib.Path("."), Index.create()
    kept, n, lost = [], 0, 0
    for path in files:
        file = File(tree, path, index)
        for m in file.found:
            n += 1
            m["n"] = n
        good = settle(file, file.found)
        lost += len(file.found) - len(good)
        kept += good
    met = collections.Counter()
    for m in kept:
        for key in ("span", "at", "last"):
            del m[key]
        m["key"] = "%s %s %s %s" % (m["file"], m["function"], m["kind"],
                                    m["text"])
        met[m["key"]] += 1
        if met[m["key"]] > 1:
            m["key"] += " #%d" % met[m["key"]]
    (tree / "mutants.json").write_text(json.dumps(kept, indent=0))
    print("%d mutants of %d files, %d more do not compile" % (
        len(kept), len(files), lost))


if __name__ == "__main__":
    main()
