"""BLAS held to one thread while results must not depend on how the work is spread."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any

import threadpoolctl


@lru_cache(maxsize=1)
def _thread_pools() -> threadpoolctl.ThreadpoolController:
    """Find the libraries with threads of their own: that takes milliseconds, so it is done once."""
    return threadpoolctl.ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[Any]:
    """Hold BLAS to one thread: sums must not depend on how the work is spread."""
    limited: AbstractContextManager[Any] = _thread_pools().limit(limits=1, user_api="blas")
    return limited
