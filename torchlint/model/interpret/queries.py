"""Memo and cycles: what is being found out right now, what that rests on, and what may be kept of it.

Functions and classes ask for each other, through several files and in circles, so something may be asked for before it
is finished; and so that it comes to an end, nobody looks further than a few files deep. Whatever is kept has to be what
would be found anew: otherwise what is known of a file would depend on which files were checked before.

Whoever wants to know something calls :meth:`Queries.ask` with a key, a function that finds the answer out, and what is
answered until then. All else stays in here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from torchlint.model.interpret.inquiry import Inquiry
from torchlint.model.interpret.keys import Answer, Home, Key

if TYPE_CHECKING:
    import libcst as cst

    from torchlint.model.budget import Budget
    from torchlint.model.interpret.frame import Frame

T = TypeVar("T")


class Queries:
    """All that is being asked. What may be kept is kept with the file that it is about."""

    def __init__(self) -> None:
        self._cut: dict[tuple[Key[object], int], Answer[object]] = {}
        self._now = Inquiry({})
        self._aside: dict[int, Inquiry] = {}
        """The inquiries about other files as a whole."""

    def begin(self) -> None:
        """Another file is checked from here on."""
        self._now = Inquiry({})
        self._aside.clear()

    @contextmanager
    def about(self, file: Home) -> Iterator[None]:
        """Put questions about all of another file, as if that was checked: they are an inquiry of their own."""
        asker = self._now
        self._now = self._aside.setdefault(id(file), Inquiry({}))
        try:
            yield
        finally:
            self._now = asker

    def known(self, key: Key[T], home: Home) -> Answer[T] | None:
        """What was found before, if it would be found from here, too; None if it has to be asked."""
        return self._now.known(key, home)

    def ask(
        self,
        key: Key[T],
        compute: Callable[[int], T],
        initial: T,
        home: Home,
        *,
        before: Callable[[], object] | None = None,
        budget: Budget | None = None,
        is_far: bool = False,
        counts: bool = False,
    ) -> T:
        """The answer to a question, found out only once as long as it holds.

        ``compute`` is given the number of the round, from 0. Who asks for the same meanwhile is given the answer of the
        round before: in the first one ``initial``, which is also the answer where the question goes too far. ``before``
        asks for what has to be known first. ``budget`` is what the file may use, if that is checked. ``is_far`` says
        that there is no answer where too many functions of other files wait for each other, ``counts`` that this is
        one of them.
        """
        now = self._now
        known = now.known(key, home)
        if known is not None:
            return known.value
        if now.is_open(key):
            return now.draft(key, initial)
        if home.is_part and not now.is_elsewhere:
            with self._apart():
                return self.ask(key, compute, initial, home, before=before, budget=budget, is_far=is_far, counts=counts)
        if budget is not None and not budget.allows(now.depth):
            return initial
        if is_far and now.is_too_far(key):
            return initial
        if before is not None and is_far:
            with now.opened(key) as opened:  # what the outer function rests on, the inner one rests on
                before()
                value, _ = now.computed(key, compute, initial, counts)
        else:
            if before is not None:
                before()
            value, opened = now.computed(key, compute, initial, counts)
        now.keep(opened, value, home.answers)
        return value

    @contextmanager
    def _apart(self) -> Iterator[None]:
        """Put a question about another file, apart from all that is being interpreted."""
        asker = self._now
        self._now = Inquiry(self._cut, is_elsewhere=True)
        try:
            yield
        finally:
            self._now = asker

    @property
    def is_apart(self) -> bool:
        """Whether a question about another file is being answered, as if nothing else was asked."""
        return self._now.is_elsewhere

    def is_open(self, key: Key[object]) -> bool:
        """Whether an answer is being found out; then whoever asks rests on something unfinished."""
        return self._now.is_open(key)

    def once(self, node: cst.CSTNode, compute: Callable[[], T], instead: T) -> T:
        """Compute something of a lambda or class, but not inside itself: there it is ``instead``."""
        now = self._now
        if not now.begins(node):
            return instead
        try:
            return compute()
        finally:
            now.ends(node)

    @contextmanager
    def running(self, key: Key[object], frame: Frame) -> Iterator[None]:
        """While an answer is found out by interpreting a scope: others can look at its frame."""
        now = self._now
        frame.trace.before = now.traces.get(key)
        now.frames[key] = frame
        try:
            yield
        finally:
            del now.frames[key]
        frame.trace.before = None
        if now.is_circular:
            now.traces[key] = frame.trace

    def frame(self, key: Key[object]) -> Frame | None:
        """The frame of a scope that is being interpreted; None if it is not."""
        return self._now.frames.get(key)
