# SPDX-License-Identifier: Apache-2.0
"""Index expressions as integer combinations of loop counters, so that overlap is arithmetic."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import CodeType
from typing import Any

import numpy as np
import tvm
from tvm import tirx

INF = math.inf
MOST_VERSIONS = 8


@dataclass(frozen=True)
class Interval:
    """Integers from ``low`` to ``high``, both included; ends may be infinite."""

    low: float
    high: float

    def __add__(self, other: Interval) -> Interval:
        return Interval(self.low + other.low, self.high + other.high)

    def scaled(self, factor: int) -> Interval:
        """Every member times a factor."""
        if factor == 0:
            return Interval(0, 0)
        ends = (self.low * factor, self.high * factor)
        return Interval(min(ends), max(ends))


@dataclass(frozen=True)
class Atom:
    """A part of an index that is no integer combination of counters.

    ``modulus`` is set for ``form % modulus``: then the remainders of the counters are enough to
    evaluate it. ``text`` is the Python expression over ``v<number>``; a value that is only known to
    be the same while the counters in ``uses`` are has none, and a ``tag`` of its own.
    """

    text: str
    uses: frozenset[int]
    bounds: Interval
    modulus: int = 0
    tag: int = 0

    @cached_property
    def code(self) -> CodeType:
        """The compiled text."""
        return compile(self.text, "<index>", "eval")

    def value(self, values: Mapping[str, Any]) -> Any:
        """Evaluate on numbers or numpy arrays named ``v<number>``."""
        return eval(self.code, _CALLS, values)


@dataclass(frozen=True)
class Form:
    """``const`` plus factors of counters (by number) plus factors of atoms."""

    const: int
    counters: tuple[tuple[int, int], ...] = ()
    atoms: tuple[tuple[Atom, int], ...] = ()

    def __add__(self, other: Form) -> Form:
        return _form(
            self.const + other.const,
            _merged(self.counters, other.counters),
            _merged(self.atoms, other.atoms),
        )

    def scaled(self, factor: int) -> Form:
        """Every part times a factor."""
        return _form(
            self.const * factor,
            {k: c * factor for k, c in self.counters},
            {k: c * factor for k, c in self.atoms},
        )

    @property
    def is_const(self) -> bool:
        """Whether it is one number."""
        return not self.counters and not self.atoms

    @cached_property
    def uses(self) -> frozenset[int]:
        """The counters that the value depends on."""
        inner = [atom.uses for atom, _ in self.atoms]
        return frozenset({k for k, _ in self.counters}.union(*inner))

    @cached_property
    def text(self) -> str:
        """A Python expression over ``v<number>``, empty if some atom has none."""
        if any(not atom.text for atom, _ in self.atoms):
            return ""
        parts = [f"{c} * v{k}" for k, c in self.counters]
        parts += [f"{c} * ({atom.text})" for atom, c in self.atoms]
        return " + ".join([str(self.const), *parts])


def _merged(a: tuple, b: tuple) -> dict:
    out = dict(a)
    for key, factor in b:
        out[key] = out.get(key, 0) + factor
    return out


def _form(const: int, counters: dict, atoms: dict) -> Form:
    return Form(
        const,
        tuple(sorted((k, c) for k, c in counters.items() if c)),
        tuple((k, c) for k, c in atoms.items() if c),
    )


_CALLS: dict[str, Any] = {"__builtins__": {}, "minimum": np.minimum, "maximum": np.maximum}
_CALLS["where"] = np.where
SCALAR_CALLS: dict[str, Any] = {"__builtins__": {}, "minimum": min, "maximum": max}
SCALAR_CALLS["where"] = lambda condition, a, b: a if condition else b
_BINARY = {
    tirx.Add: "+",
    tirx.Sub: "-",
    tirx.Mul: "*",
    tirx.FloorDiv: "//",
    tirx.FloorMod: "%",
    tirx.LT: "<",
    tirx.LE: "<=",
    tirx.GT: ">",
    tirx.GE: ">=",
    tirx.EQ: "==",
    tirx.NE: "!=",
    tirx.And: "&",
    tirx.Or: "|",
}


class Reader:
    """Turns expressions into forms; knows the counters and their bounds."""

    def __init__(self) -> None:
        self.forms: dict[tirx.Var, Form] = {}
        self.bounds: list[Interval] = []
        self._tags = 0

    def counter(self, bounds: Interval) -> int:
        """Number of a fresh counter: 0, 1, 2... up to its bound."""
        self.bounds.append(bounds)
        return len(self.bounds) - 1

    def define(self, var: tirx.Var, form: Form) -> None:
        """Say what a variable stands for."""
        self.forms[var] = form

    def opaque(self, uses: frozenset[int]) -> Form:
        """A value that is only known to be the same while the counters in ``uses`` are."""
        self._tags += 1
        return Form(0, (), ((Atom("", uses, Interval(-INF, INF), 0, self._tags), 1),))

    def interval(self, form: Form) -> Interval:
        """Bounds of a form over everything its counters can be."""
        total = Interval(form.const, form.const)
        for number, factor in form.counters:
            total = total + self.bounds[number].scaled(factor)
        for atom, factor in form.atoms:
            total = total + atom.bounds.scaled(factor)
        return total

    def read(self, expr: Any) -> Form:
        """The form of an integer expression; a Python int is one too."""
        if isinstance(expr, int):
            return Form(expr)
        if isinstance(expr, tirx.IntImm):
            return Form(int(expr.value))
        if isinstance(expr, tvm.ir.Var):
            return self._variable(expr)
        if isinstance(expr, tirx.Cast):
            return self.read(expr.value)
        if isinstance(expr, tirx.Add):
            return self.read(expr.a) + self.read(expr.b)
        if isinstance(expr, tirx.Sub):
            return self.read(expr.a) + self.read(expr.b).scaled(-1)
        if isinstance(expr, tirx.Mul):
            return self._product(self.read(expr.a), self.read(expr.b))
        if isinstance(expr, (tirx.FloorDiv, tirx.FloorMod)):
            by = self.read(expr.b)
            if by.is_const and by.const > 0:
                part = self._quotient if isinstance(expr, tirx.FloorDiv) else self._remainder
                return part(self.read(expr.a), by.const)
        if isinstance(expr, (tirx.Min, tirx.Max)):
            return self._extreme(self.read(expr.a), self.read(expr.b), isinstance(expr, tirx.Min))
        return self._other(expr)

    def _variable(self, var: tirx.Var) -> Form:
        if var not in self.forms:
            number = self.counter(Interval(-INF, INF))
            self.forms[var] = Form(0, ((number, 1),))
        return self.forms[var]

    def _product(self, a: Form, b: Form) -> Form:
        if a.is_const:
            return b.scaled(a.const)
        if b.is_const:
            return a.scaled(b.const)
        text = f"({a.text}) * ({b.text})" if a.text and b.text else ""
        return self._atom(text, a.uses | b.uses, Interval(-INF, INF))

    def _split(self, form: Form, by: int) -> tuple[Form, Form]:
        """``form`` as multiples of ``by`` plus a rest."""
        # Towards zero, so that a small negative factor stays small in the rest.
        counters = {k: int(c / by) * by for k, c in form.counters}
        atoms = {k: int(c / by) * by for k, c in form.atoms}
        whole = _form(form.const // by * by, counters, atoms)
        return whole, form + whole.scaled(-1)

    def _quotient(self, form: Form, by: int) -> Form:
        whole, rest = self._split(form, by)
        bounds = self.interval(rest)
        done = _form(
            whole.const // by,
            {k: c // by for k, c in whole.counters},
            {k: c // by for k, c in whole.atoms},
        )
        if bounds.low >= 0 and bounds.high < by:
            return done
        limits = Interval(_floor(bounds.low, by), _floor(bounds.high, by))
        text = f"({rest.text}) // {by}" if rest.text else ""
        return done + self._atom(text, rest.uses, limits)

    def _remainder(self, form: Form, by: int) -> Form:
        _, rest = self._split(form, by)
        bounds = self.interval(rest)
        # A counter modulo the number of versions stays so, however short the loop: that is how
        # versions are recognised.
        cycles = by <= MOST_VERSIONS and len(rest.counters) == 1 and not rest.atoms
        if bounds.low >= 0 and bounds.high < by and not cycles:
            return rest
        text = f"({rest.text}) % {by}" if rest.text else ""
        plain = all(atom.modulus > 0 and by % atom.modulus == 0 for atom, _ in rest.atoms)
        return self._atom(text, rest.uses, Interval(0, by - 1), by if plain else 0)

    def _extreme(self, a: Form, b: Form, smaller: bool) -> Form:
        of_a, of_b = self.interval(a), self.interval(b)
        choose = min if smaller else max
        bounds = Interval(choose(of_a.low, of_b.low), choose(of_a.high, of_b.high))
        if (of_a.high <= of_b.low) or (of_b.high <= of_a.low):
            a_is_less = of_a.high <= of_b.low
            return a if a_is_less == smaller else b
        name = "minimum" if smaller else "maximum"
        text = f"{name}({a.text}, {b.text})" if a.text and b.text else ""
        return self._atom(text, a.uses | b.uses, bounds)

    def _other(self, expr: Any) -> Form:
        try:
            text, uses = self._text(expr)
        except TypeError:
            text, uses = "", frozenset(range(len(self.bounds)))
        return self._atom(text, uses, Interval(-INF, INF))

    def _text(self, expr: Any) -> tuple[str, frozenset[int]]:
        """Python text of any pure integer expression; TypeError for the rest."""
        kind = type(expr)
        if kind in _BINARY:
            (a, uses_a), (b, uses_b) = self._text(expr.a), self._text(expr.b)
            return f"(({a}) {_BINARY[kind]} ({b}))", uses_a | uses_b
        if isinstance(expr, tirx.Not):
            inner, uses = self._text(expr.a)
            return f"(({inner}) == 0)", uses
        if isinstance(expr, tirx.Select):
            parts = [self._text(e) for e in (expr.condition, expr.true_value, expr.false_value)]
            return f"where({', '.join(t for t, _ in parts)})", frozenset().union(
                *(u for _, u in parts)
            )
        if isinstance(expr, (tirx.IntImm, tirx.Cast, tirx.Min, tirx.Max, tvm.ir.Var)):
            form = self.read(expr)
            if form.text:
                return form.text, form.uses
        raise TypeError(f"no Python text for {kind.__name__}")

    def _atom(self, text: str, uses: frozenset[int], bounds: Interval, modulus: int = 0) -> Form:
        if not text:
            return self.opaque(uses)
        return Form(0, (), ((Atom(text, uses, bounds, modulus), 1),))


def _floor(value: float, by: int) -> float:
    return value if math.isinf(value) else value // by
