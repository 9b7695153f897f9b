"""Matplotlib without a window."""

import pytest


@pytest.fixture
def pyplot():
    """Give pyplot; no style is touched and no figure is left."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    before = dict(matplotlib.rcParams)
    yield pyplot
    pyplot.close("all")
    assert dict(matplotlib.rcParams) == before
