"""The same comparison made by other packages: the scores of two models on the same rows.

    python benchmarks/peers.py [--quick] [--json FILE]

ROC AUC and accuracy of two models on the same rows, 2,000 resamples, one thread (rapidstats can use
more), in one process. What is not installed is skipped, and so is what fails, each with a line that
says so. Every call is first made with a few resamples, which also warms it up; it is left out where
the whole would take more than 30 s. Ratios are to the plain loop over scikit-learn's metric for
both models, as in ``speed.py``.

Packages differ in what they answer. Some give an interval of the difference, from rows drawn
jointly for both models; some one interval for each model; some a p-value alone, from answers
swapped between the models. The table says which.
"""

from __future__ import annotations

from importlib import metadata

import _run
from _adapters import QUESTIONS, Interval, Peer
from _work import N_RESAMPLES, Data, loop_seconds, make_data

LIMIT = 30.0
TRIAL = 40  # resamples of the first call; our own asks for 39 or more


def measure(peer: Peer, data: Data, n_resamples: int) -> tuple[float | None, float, Interval]:
    """Time the whole call where it is short enough; give the time expected from a trial too."""
    peer.run(data, TRIAL)
    expected = _run.seconds(lambda: peer.run(data, TRIAL)) * n_resamples / TRIAL
    if expected > LIMIT:
        return None, expected, None
    found: list[Interval] = []
    time = _run.seconds(lambda: found.append(peer.run(data, n_resamples)))
    if time < 1:
        time = min(time, _run.seconds(lambda: peer.run(data, n_resamples)))
    return time, expected, found[0]


def versions() -> tuple[dict[str, str], set[str]]:
    """Give the versions of what is installed, and say what is not."""
    installed, absent = {}, set()
    for package in dict.fromkeys(
        peer.package for *_, peers in QUESTIONS.values() for peer in peers
    ):
        try:
            installed[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            print(f"{package}: not installed, skipped")
            absent.add(package)
    return installed, absent


def main() -> None:
    """Print the table, and write it as JSON if asked to."""
    arguments = _run.arguments_of(__doc__)
    sizes = (200,) if arguments.quick else (1_000, 10_000, 100_000)
    n_resamples = 50 if arguments.quick else N_RESAMPLES
    installed, absent = versions()
    rows, failed = [], {}
    table = _run.Table(question=10, package=20, call=34, rows=9, loop_s=8, its_s=9, ratio=8)
    for question, (metric, kind, peers) in QUESTIONS.items():
        for n_rows in sizes:
            data = make_data(kind, n_rows)
            loop = loop_seconds([metric], data, n_resamples, quick=arguments.quick)
            for peer in peers:
                if peer.package not in installed:
                    continue
                try:
                    time, expected, interval = measure(peer, data, n_resamples)
                except Exception as error:  # another package's trouble must not stop the others
                    print(f"{peer.package}: {peer.call} failed, {error!r}")
                    failed[f"{peer.package}, {peer.call}"] = type(error).__name__
                    continue
                ratio = None if time is None else loop / time
                table.row(question, peer.package, peer.call, n_rows, loop, time, ratio)
                rows.append(
                    {
                        "question": question,
                        "package": peer.package,
                        "version": installed[peer.package],
                        "call": peer.call,
                        "gives": peer.gives,
                        "draws": peer.draws,
                        "n_rows": n_rows,
                        "loop_s": _run.significant(loop),
                        "its_s": time and _run.significant(time),
                        "expected_s": _run.significant(expected),
                        "ratio": ratio and _run.significant(ratio),
                        "interval": interval and [_run.significant(end) for end in interval],
                    }
                )
    _run.write(
        arguments,
        rows,
        n_resamples=n_resamples,
        limit_s=LIMIT,
        absent=sorted(absent),
        failed=failed,
    )


if __name__ == "__main__":
    main()
