"""Matplotlib without a window, and a result with all that a display of comparisons shows."""

import numpy as np
import pytest

from sklearn_pairboot import compare_predictions


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


@pytest.fixture(scope="session")
def predicted():
    """Two metrics, three models, subgroups; one of them has a single class and so no ROC AUC."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 90)
    answers = {
        name: np.clip(0.5 + gain * (y - 0.5) + rng.normal(0, 0.2, 90), 0.02, 0.98)
        for name, gain in (("old", 0.1), ("new", 0.4), ("third", 0.45))
    }
    return compare_predictions(
        y,
        answers,
        scoring=["roc_auc", "neg_log_loss"],
        slices={"site": np.where(y == 0, "south", np.where(rng.random(90) < 0.5, "east", "west"))},
        n_resamples=199,
        random_state=0,
        margin={"roc_auc": 0.05},
    )
