"""Fidelity and learning in words: what was measured, as it is said in lists and reports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from shoal.core.documents import Json
from shoal.reports.words import percent

Line = tuple[str, str, str]
"""A measure: its name, its value, and what it says."""

WAYS: Mapping[str, str] = {
    "raw": "raw records",
    "release": "the release",
    "control": "marginals alone",
    "raw_on_release": "raw, tested on recoded",
}
"""What models are trained on."""


def _at(document: object, *path: str) -> Json:
    for name in path:
        if not isinstance(document, Mapping):
            return None
        document = document.get(name)
    return document  # type: ignore[return-value]


def _number(value: object) -> float | None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number else None  # type: ignore[arg-type]


def bound_words(found: object) -> list[Line]:
    """Return a line that says how far a release may be above the least possible loss."""
    if not isinstance(found, Mapping) or not found:
        return []
    why, above, k = found.get("why"), _number(found.get("above")), found.get("k")
    if above is None:
        return [("optimum", f"not known: {why or 'the bound is 0'}", "")]
    says = "no release keeps k alone with less loss than the bound; further promises only add"
    return [("optimum", f"at most {percent(above)} above it (k = {k} alone)", says)]


def fidelity_words(found: object) -> list[Line]:
    """Return a line for each measure of fidelity; none where nothing was measured."""
    if not isinstance(found, Mapping) or not found:
        return []
    lines: list[Line] = []
    score = _number(found.get("k_marginal"))
    if score is not None:
        says = "of 1,000: how alike the counts of all pairs of columns are (NIST's score)"
        lines.append(("k-marginal score", f"{score:,.1f}", says))
    mean, median = (_number(_at(found, "query_error", name)) for name in ("mean", "median"))
    if mean is not None:
        says = "mean relative error of random count queries; half of them are below the median"
        lines.append(("query error", f"{percent(mean)} (median {percent(median)})", says))
    ratio = _number(found.get("pmse_ratio"))
    if ratio is not None:
        says = "how well a model tells released records from original ones; 1: as drawn from them"
        lines.append(("pMSE ratio", f"{ratio:,.3g}", says))
    lines += _worst(found, "total_variation", "total variation", "share of records that would have "
                    "to change in one column; the largest")  # fmt: skip
    lines += _worst(found, "kolmogorov_smirnov", "Kolmogorov–Smirnov", "largest gap between "
                    "distribution functions of one column")  # fmt: skip
    for name, title, says in (
        ("correlation_change", "correlations", "change of Pearson's correlation, on average"),
        ("association_change", "associations", "change of Cramér's V, on average"),
    ):
        change, largest = (_number(_at(found, name, each)) for each in ("mean", "largest"))
        if change is not None:
            lines.append((title, f"{change:.4f} (largest {largest:.4f})", says))
    matched, unique = (
        _number(_at(found, "unique_exact_matches", n)) for n in ("records", "unique")
    )
    if matched is not None and unique is not None:
        says = "records like no other one that stand in the release word by word"
        lines.append(("unique exact matches", f"{matched:,.0f} of {unique:,.0f}", says))
    return lines


def _worst(found: Mapping[str, object], name: str, title: str, says: str) -> list[Line]:
    values = found.get(name)
    known = {
        str(column): number
        for column, value in (values.items() if isinstance(values, Mapping) else ())
        if (number := _number(value)) is not None
    }
    if not known:
        return []
    column = max(known, key=lambda each: known[each])
    return [(title, f"{known[column]:.4f} in {column}", says)]


def learning_words(found: object) -> list[Line]:
    """Return a line for each model and what it was trained on; none where none was trained."""
    if not isinstance(found, Mapping) or not found:
        return []
    lines = [
        (f"{model}, {WAYS[way]}", _scores_in_words(scores), "")
        for model, way, scores in _trained(found)
    ]
    majority = _number(_at(found, "majority", "mean"))
    if majority is not None:
        lines.append(("commonest value alone", f"accuracy {percent(majority)}", ""))
    return lines


def _scores_in_words(scores: Mapping[str, float | None]) -> str:
    f1, area, right = (scores[name] for name in ("macro_f1", "auc", "accuracy"))
    named = (("macro-F1", f1), ("AUC", area))
    texts = [f"{name} {value:.3f}" for name, value in named if value is not None]
    return ", ".join([*texts, f"accuracy {percent(right)}"])


def _trained(found: object) -> Iterator[tuple[str, str, Mapping[str, float | None]]]:
    models = _at(found, "models")
    for model, ways in models.items() if isinstance(models, dict) else ():
        for way in WAYS:
            scores = _at(ways, way)
            if isinstance(scores, dict):
                names = ("macro_f1", "auc", "accuracy")
                yield model, way, {n: _number(_at(scores, n, "mean")) for n in names}


def learning_rows(found: object) -> list[tuple[str, str, str, str, str]]:
    """Return model, what it was trained on, macro-F1, AUC and accuracy, for a table."""

    def text(value: float | None) -> str:
        return "–" if value is None else f"{value:.3f}"

    return [
        (model, WAYS[way], *(text(scores[n]) for n in ("macro_f1", "auc", "accuracy")))  # type: ignore[misc]
        for model, way, scores in _trained(found)
    ]


def learning_note(found: object) -> str:
    """Say how models were trained and tested, and what always saying the commonest value gives."""
    folds, records, of = (_number(_at(found, name)) for name in ("folds", "records", "of"))
    majority = _number(_at(found, "majority", "mean"))
    sampled = "" if records == of else f" of {of:,.0f}, drawn by chance"
    return (
        f"Models were trained to tell {_at(found, 'target')!r} on {records:,.0f} records{sampled}, "
        f"in {folds:.0f} parts, each tested on in turn; what was trained has seen nothing of it. "
        "Marginals alone: what each column says of it by itself, with no release at all. The "
        f"commonest value alone is right in {percent(majority)}."
    )


def measured_figures(report: object) -> dict[str, float]:
    """Return the figures of a release's fidelity and learning that runs are compared by."""
    found: dict[str, float] = {}
    for name, path in (
        ("k-marginal", ("fidelity", "k_marginal")),
        ("query error", ("fidelity", "query_error", "mean")),
        ("pMSE ratio", ("fidelity", "pmse_ratio")),
    ):
        value = _number(_at(report, *path))
        if value is not None:
            found[name] = value
    for model, way, scores in _trained(_at(report, "learning")):
        if way in ("release", "raw", "control"):
            for score, value in scores.items():
                if value is not None and score != "accuracy":
                    found[f"{_SHORT.get(model, model)} {_TITLES[score]} {way}"] = value
    return found


_SHORT = {"logistic regression": "LR", "random forest": "RF", "gradient boosting": "GB"}
_TITLES = {"macro_f1": "F1", "auc": "AUC"}
