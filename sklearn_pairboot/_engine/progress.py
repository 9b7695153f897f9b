"""One progress bar for everything a call waits for: fits and blocks of resamples."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from typing import Any, TypeVar

_T = TypeVar("_T")
Done = Callable[[int], None]

# The bar of the call that runs, as a list that is empty until a stage shows it. Threads and
# processes that joblib starts have none.
_shared: ContextVar[list[Any] | None] = ContextVar("_shared", default=None)


@contextlib.contextmanager
def one_bar() -> Iterator[list[Any]]:
    """Let all stages inside share one bar, which is closed at the end, also by an error."""
    outer = _shared.get()
    if outer is not None:
        yield outer
        return
    bars: list[Any] = []
    token = _shared.set(bars)
    try:
        yield bars
    finally:
        _shared.reset(token)
        for bar in bars:
            if bar is not None:  # a bar is false before its first step
                bar.close()


@contextlib.contextmanager
def stage(n_steps: int, name: str, verbose: int) -> Iterator[Done]:
    """Show a stage of so many steps; what is given takes how many more of them are done."""
    if verbose <= 0 or n_steps == 0:
        yield _nothing
        return
    with one_bar() as bars:
        if not bars:
            bars.append(_make_bar(n_steps, name))
        elif bars[0] is not None:
            bars[0].total += n_steps
            bars[0].set_description(name)
        yield _nothing if bars[0] is None else bars[0].update


def counted(items: Iterable[_T], done: Done) -> Iterator[_T]:
    """Pass items on, and count each when the next is asked for."""
    for item in items:
        yield item
        done(1)


def follow(parallel: Any, done: Done, sizes: Iterable[int] | None = None) -> Any:
    """Let joblib count tasks as they are done, whatever runs them.

    ``sizes`` are the numbers of steps of the tasks, 1 each unless given; tasks that end out of
    order count as the first ones.
    """
    steps = None if sizes is None else list(sizes)
    n_counted = 0

    def print_progress() -> None:
        nonlocal n_counted
        n_tasks = parallel.n_completed_tasks
        done(n_tasks - n_counted if steps is None else sum(steps[n_counted:n_tasks]))
        n_counted = n_tasks

    parallel.print_progress = print_progress
    return parallel


def _nothing(n: int) -> None:
    """Show nothing."""


def _make_bar(n_steps: int, name: str) -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        warnings.warn(
            "`verbose` shows no progress without tqdm. Install it with: pip install "
            '"sklearn-pairboot[progress]"',
            stacklevel=2,
        )
        return None
    # It vanishes at its end: what remains on a terminal are results.
    return tqdm(total=n_steps, desc=name, unit="step", leave=False)
