"""Families of scorers, and the metrics with keyword arguments that the page of scorers tries."""

from __future__ import annotations

from typing import Any

from sklearn_pairboot._scoring.resolve import resolve_scoring

FAMILIES = {
    "labels": "Metrics of labels",
    "scores": "Metrics of probabilities and scores",
    "values": "Metrics of values",
    "clusterings": "Metrics of clusterings",
}
LABELS, VALUES = "predict", "predict"
PROBABILITIES, SCORES = "predict_proba", ("decision_function", "predict_proba")
NAN = float("nan")


def family_of(name: str) -> str:
    """Tell what the scorer of a name compares with the truths."""
    (metric,) = resolve_scoring(name)
    where = getattr(metric.function, "__module__", "")
    if "cluster" in where:
        return "clusterings"
    if "_regression" in where:
        return "values"
    return "labels" if metric.responses == ("predict",) else "scores"


def _calls() -> list[tuple[str, Any, str, dict[str, Any]]]:
    """List family, response, function and keyword arguments that no name stands for."""
    calls: list[tuple[str, Any, str, dict[str, Any]]] = []

    def add(family: str, response: Any, function: str, *keywords: dict[str, Any]) -> None:
        calls.extend((family, response, function, of_one) for of_one in keywords)

    add("labels", LABELS, "accuracy_score", {"normalize": False})
    add("labels", LABELS, "balanced_accuracy_score", {"adjusted": True})
    for function in ("precision_score", "recall_score", "f1_score", "jaccard_score"):
        add(
            "labels",
            LABELS,
            function,
            {"pos_label": 0},
            {"zero_division": 1},
            {"zero_division": NAN},
            {"average": "macro", "zero_division": NAN},
            {"average": "macro", "labels": [0, 1]},
            {"average": "micro", "labels": [0, 1]},
            {"average": "weighted", "zero_division": 1},
            {"average": "samples", "zero_division": 1},
        )
    add(
        "labels",
        LABELS,
        "fbeta_score",
        {"beta": 2},
        {"beta": 0.5, "average": "macro"},
        {"beta": 0.5, "average": "weighted"},
        {"beta": 0.5, "average": "samples"},
    )
    add("labels", LABELS, "cohen_kappa_score", {}, {"weights": "linear"}, {"weights": "quadratic"})
    add("labels", LABELS, "cohen_kappa_score", {"labels": [0, 1]})
    add("labels", LABELS, "zero_one_loss", {}, {"normalize": False})
    add("labels", LABELS, "hamming_loss", {})

    add("scores", SCORES, "roc_auc_score", {"max_fpr": 0.1}, {"average": "micro"})
    add("scores", SCORES, "roc_auc_score", {"average": "weighted"}, {"average": "samples"})
    add(
        "scores",
        PROBABILITIES,
        "roc_auc_score",
        {"multi_class": "ovr", "average": "weighted"},
        {"multi_class": "ovr", "average": "micro"},
        {"multi_class": "ovr", "labels": [0, 1, 2]},
        {"multi_class": "ovo", "average": "macro"},
        {"multi_class": "ovo", "average": "weighted"},
    )
    add(
        "scores",
        SCORES,
        "average_precision_score",
        {"pos_label": 0},
        {"average": "micro"},
        {"average": "weighted"},
        {"average": "samples"},
    )
    add("scores", PROBABILITIES, "log_loss", {"normalize": False}, {"labels": [0, 1]})
    add("scores", PROBABILITIES, "brier_score_loss", {"pos_label": 0}, {"scale_by_half": False})
    add("scores", SCORES, "top_k_accuracy_score", {"k": 1}, {"k": 2, "normalize": False})
    add("scores", "decision_function", "hinge_loss", {})
    add("scores", SCORES, "dcg_score", {})
    add("scores", SCORES, "ndcg_score", {}, {"k": 2})
    add("scores", SCORES, "coverage_error", {})
    add("scores", SCORES, "label_ranking_average_precision_score", {})
    add("scores", SCORES, "label_ranking_loss", {})

    for function in (
        "mean_squared_error",
        "root_mean_squared_error",
        "mean_absolute_error",
        "median_absolute_error",
        "mean_squared_log_error",
        "root_mean_squared_log_error",
        "mean_absolute_percentage_error",
        "mean_pinball_loss",
    ):
        add("values", VALUES, function, {"multioutput": [0.3, 0.7]})
    add("values", VALUES, "mean_pinball_loss", {}, {"alpha": 0.9})
    for function in ("r2_score", "explained_variance_score"):
        add(
            "values",
            VALUES,
            function,
            {"force_finite": False},
            {"multioutput": "variance_weighted"},
            {"multioutput": [0.3, 0.7]},
        )
    add("values", VALUES, "mean_tweedie_deviance", *({"power": p} for p in (0, 1.5, 3)))
    add("values", VALUES, "d2_tweedie_score", *({"power": p} for p in (0, 1, 1.5, 2)))
    add("values", VALUES, "d2_absolute_error_score", {"multioutput": [0.3, 0.7]})
    add("values", VALUES, "d2_pinball_score", {}, {"alpha": 0.9})

    add("clusterings", LABELS, "v_measure_score", {"beta": 2.0})
    add("clusterings", LABELS, "adjusted_mutual_info_score", {"average_method": "max"})
    add("clusterings", LABELS, "normalized_mutual_info_score", {"average_method": "geometric"})
    return calls


CALLS = _calls()
