"""What tests of displays share: comparisons to draw, and whether a picture shows all its text."""

from __future__ import annotations

import itertools

import numpy as np

from sklearn_pairboot import compare_scores


def binary(n_models, n=120, seed=0):
    rng = np.random.default_rng(seed)
    level = rng.random(n)
    return {
        f"m{k}": (level + rng.normal(0, 0.3, n) + 0.03 * k > 0.4).astype(float)
        for k in range(n_models)
    }


def compare(scores, **options):
    return compare_scores(scores, **{"n_resamples": 199, "random_state": 0} | options)


def fits(figure):
    """Tell whether all text lies within the figure, and labels of rows do not overlap."""
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    box = figure.bbox
    for axes in figure.axes:
        legend = axes.get_legend()
        low, high = sorted(axes.get_ylim())
        labels = [
            label for label in axes.get_yticklabels() if low <= label.get_position()[1] <= high
        ]
        texts = [*labels, *axes.texts, axes.xaxis.label, axes.yaxis.label]
        texts += [] if legend is None else legend.get_texts()
        for text in texts:
            extent = text.get_window_extent(renderer)
            inside = (extent.x0 >= box.x0 - 1, extent.x1 <= box.x1 + 1)
            inside += (extent.y0 >= box.y0 - 1, extent.y1 <= box.y1 + 1)
            if text.get_text() and not all(inside):
                return False
        spans = sorted((e.y0, e.y1) for e in (t.get_window_extent(renderer) for t in labels))
        if any(high > low for (_, high), (low, _) in itertools.pairwise(spans)):
            return False
    return True
