"""What drawn releases keep and give away: the tables of the guide to them.

    python -m benchmarks.drawn ../shared/data [nist] [attacks] [target]

draws NIST's benchmark table, attacks it beside its labels, and trains models on Adult with
`--for salary-class`; the tables of `docs/guides/drawn.md` between its marks are replaced.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import shoal
from benchmarks.measure import DATA, ROOT
from shoal.core.secret_keys import Keys
from shoal.engines.choose import engine_for
from shoal.engines.drawing.drawing import Drawer, Drawing
from shoal.measures.attacks.match import label_distances
from shoal.measures.learning.models import shuffled_within

GUIDE = ROOT / "docs" / "guides" / "drawn.md"
NIST = ("AGEP", "SEX", "MSP", "RAC1P", "HOUSING_TYPE", "OWN_RENT", "EDU", "PINCP_DECILE", "DVET",
        "DEYE")  # fmt: skip
NUMERIC = ("AGEP", "EDU", "PINCP_DECILE")
SEEDS = 20
TARGETS = 500
OTHERS = (
    ("AIM, ε = 1 (NIST's report)", 976, "synthetic"), ("MST, ε = 1 (NIST's report)", 958,
     "synthetic"), ("CART (NIST's report)", 923, "synthetic"),
    ("sdcMicro, k = 6 (NIST's report)", 907, "18,720 of 27,253"),
)  # fmt: skip


def nist_table(data: Path) -> pl.DataFrame:
    """Return the ten columns of NIST's benchmark."""
    place = data / "nist_national2019" / "national2019.csv.gz"
    return pl.read_csv(place, infer_schema=False).select(NIST)


def nist_words(k: int, method: str, **more: Any) -> dict[str, Any]:
    """Return how NIST's table is asked for."""
    return {
        "qi": list(NIST), "numeric": list(NUMERIC), "missing": ["N"], "k": k, "method": method,
        "categorical": [n for n in NIST if n not in NUMERIC], "attacks": False, **more,
    }  # fmt: skip


def nist(data: Path) -> str:
    """Return fidelity and what reappears, beside what NIST's report has."""
    table = nist_table(data)
    lines, back = [], []
    zero = None
    for method in ("refine", "bestcut"):
        for k in (6, 12):
            made = shoal.anonymize(table, **nist_words(k, method, release="draw", fidelity=True))
            facts = made.report.facts
            about, found = facts["drawn"], facts["fidelity"]
            zero = about["marginals_alone"]
            name = f"`{method}`, k = {k}"
            lines.append((found["k_marginal"], f"| {name}, drawn | {found['k_marginal']:.1f} | "
                          f"{made.report.released:,} of {made.report.records:,} |"))  # fmt: skip
            seen = about["reappearing"]
            one, other = seen["members"], seen["control"]
            back.append(
                f"| {name} | {one['share']:.1%} | {other['share']:.1%} | "
                f"{one['share'] / other['share']:.2f} | {one['linked_by_labels']:.1%} | "
                f"{other['covered_by_labels']:.0%} |"
            )
    lines += [(score, f"| {name} | {score} | {records} |") for name, score, records in OTHERS]
    lines.append((zero, f"| marginals alone, no release (the zero line) | {zero:.1f} | none |"))
    lines.sort(key=lambda line: -line[0])
    first = "| release | k-marginal | records |\n|---|---|---|\n"
    second = (
        "| release of one half | members found word by word | control | ratio "
        "| members linked by labels | control covered by labels |\n|---|---|---|---|---|---|\n"
    )
    return first + "\n".join(text for _, text in lines) + "\n\n" + second + "\n".join(back)


def attacks(data: Path) -> str:
    """Return how often the nearest record is the right one, and what its neighbours say."""
    table = pl.read_csv(data / "adult_arx" / "adult.csv.gz", separator=";", infer_schema=False)
    table = table.sample(6_000, seed=1)
    target = "salary-class"
    quasi = [name for name in table.columns if name != target]
    rows = []
    for k in (5, 20):
        words = {"qi": quasi, "numeric": ["age"], "sensitive": [target], "k": k, "attacks": False,
                 "method": "bestcut", "labels": "tight", "keep_order": True}  # fmt: skip
        made = shoal.anonymize(table, **words)
        labels = made.table
        records = engine_for(table).open(table).records(made.schema, [], Keys())
        counts = records.count()
        found = [_attacked(table, labels, counts, quasi, target, k, seed) for seed in range(SEEDS)]
        rates = np.array(found)
        for at, name in enumerate(("linkage", "homogeneity")):
            one, other = rates[:, 2 * at], rates[:, 2 * at + 1]
            rows.append(
                f"| {name}, k = {k} | {one.mean():.2%} | {other.mean():.2%} | "
                f"{other.min():.2%} … {other.max():.2%} |"
            )
    head = f"| attack, {SEEDS} seeds | labels | drawn | of a seed |\n|---|---|---|---|\n"
    return head + "\n".join(rows)


def _attacked(
    table: pl.DataFrame, labels: pl.DataFrame, counts: Any, quasi: Sequence[str], target: str,
    k: int, seed: int,
) -> tuple[float, ...]:  # fmt: skip
    """Return linkage and homogeneity, of labels and of drawn records.

    Whoever is looked for is in the table. A record is rightly linked with the chance that it is
    theirs among those of its class; a sensitive value is told by the majority of those that fit.
    """
    drawn = Drawer(counts.table, counts.schema, Drawing(seed=seed, k=k)).draw(labels).frame
    number = labels.select(pl.struct(quasi).rank("dense")).to_series().to_numpy().astype(int) - 1
    size = np.bincount(number)
    rng = np.random.default_rng(seed)
    people = rng.choice(table.height, size=min(TARGETS, table.height), replace=False)
    values = table[target].to_physical() if table[target].dtype == pl.Categorical else table[target]
    truth = values.rank("dense").to_numpy().astype(int) - 1
    rates = []
    for made in (labels, drawn):
        far = np.zeros((len(people), table.height), dtype=np.float32)
        wide = np.zeros(table.height)
        for domain in counts.table.domains:
            texts = made[domain.name].unique().to_list()
            place = {text: i for i, text in enumerate(texts)}
            where = [place[text] for text in made[domain.name].to_list()]
            asked = table[domain.name].gather(people).cast(pl.String).to_list()
            far += label_distances(domain, asked, texts)[:, where]
            covered = (label_distances(domain, domain.labels, texts) == 0).sum(axis=0)
            wide += np.log(np.maximum(covered, 1))[where]
        # Of what is equally near: the narrowest labels, which say most of whom they cover.
        far += (1e-3 * wide / max(wide.max(), 1)).astype(np.float32)[None, :]
        fits = far <= far.min(axis=1, keepdims=True) + 1e-6
        own = number[people][:, None] == number[None, :]
        chance = np.where(own, 1 / size[number][None, :], 0.0)
        linked = (fits * chance).sum(axis=1) / fits.sum(axis=1)
        told = [np.bincount(truth[row]).argmax() for row in fits]
        rates.append((linked.mean(), float(np.mean(told == truth[people]))))
    (one, two), (three, four) = rates
    return one, three, two, four


def target(data: Path) -> str:
    """Return what models learn of Adult's salary from drawn releases, over three splits."""
    table = pl.read_csv(data / "adult_arx" / "adult.csv.gz", separator=";", infer_schema=False)
    quasi = [name for name in table.columns if name != "salary-class"]
    words = {"qi": quasi, "numeric": ["age"], "neutral": ["salary-class"], "attacks": False,
             "release": "draw", "method": "bestcut"}  # fmt: skip
    informed = {"utility": "information", "target": "salary-class"}
    ways = {"raw records": None, "marginals within each salary": "control",
            **{f"`--release draw`{name}, k = {k}": {**words, **more, "k": k} for k in (10, 100)
               for name, more in ((" `--for salary-class`", informed), ("", {}))}}  # fmt: skip
    rows = []
    for name, asked in ways.items():
        found = [_learned(table.sample(fraction=1, shuffle=True, seed=s), quasi, asked, s)
                 for s in range(3)]  # fmt: skip
        f1, auc, ncp, one = np.mean(found, axis=0)
        told = "| "
        if isinstance(asked, dict):
            told = f"{ncp:.2f} | {'not measured' if np.isnan(one) else f'{one:.0%}'}"
        rows.append(f"| {name} | {f1:.3f} | {auc:.3f} | {told} |")
    head = (
        "| trained on | macro-F1 | AUC | NCP | one salary in the class |\n|---|---|---|---|---|\n"
    )
    return head + "\n".join(rows)


def _learned(table: pl.DataFrame, quasi: Sequence[str], asked: Any, seed: int) -> tuple[float, ...]:
    """Train on 70 % as they are released, and test on the others as they are."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.metrics import f1_score, roc_auc_score

    cut = int(0.7 * table.height)
    train, test = table[:cut], table[cut:]
    ncp = one = 0.0
    made = train
    order: dict[str, list[str]] = {}
    if asked == "control":
        truth = (train["salary-class"] == ">50K").to_numpy().astype(np.int64)
        rows = np.tile(np.arange(train.height)[:, None], (1, len(quasi)))
        rows = shuffled_within(truth, rows, seed=seed)
        made = train.with_columns(train[n].gather(rows[:, j]) for j, n in enumerate(quasi))
    elif asked is not None:
        release = shoal.anonymize(train, **asked)
        made, ncp = release.table, release.report.utility["ncp"]
        sizes = release.report.facts.get("for")
        one = sizes["one_value"] if sizes else float("nan")
    for name in quasi:
        rates = train.group_by(name).agg((pl.col("salary-class") == ">50K").mean().alias("r"))
        order[name] = rates.sort("r", name)[name].to_list()

    def features(frame: pl.DataFrame) -> Any:
        places = {n: {v: i for i, v in enumerate(order[n])} for n in quasi if n != "age"}
        columns = [
            frame[n].cast(pl.Float64).to_list() if n == "age"
            else [places[n].get(v, np.nan) for v in frame[n].to_list()]
            for n in quasi
        ]  # fmt: skip
        return np.array(columns, dtype=np.float64).T

    truth = (test["salary-class"] == ">50K").to_numpy()
    model = HistGradientBoostingClassifier(random_state=0, early_stopping=False)
    model.fit(features(made), (made["salary-class"] == ">50K").to_numpy())
    likely = model.predict_proba(features(test))[:, 1]
    return f1_score(truth, likely > 0.5, average="macro"), roc_auc_score(truth, likely), ncp, one


TABLES: dict[str, Callable[[Path], str]] = {"nist": nist, "attacks": attacks, "target": target}


def main(data: Path, names: Sequence[str]) -> None:
    """Replace the tables of the guide."""
    for name in names or TABLES:
        made = TABLES[name](data)
        print(made, flush=True)
        text = GUIDE.read_text(encoding="utf-8")
        marked = rf"(<!-- {name} -->\n).*?(<!-- end -->)"
        text = re.sub(marked, lambda m: f"{m[1]}{made}\n{m[2]}", text, flags=re.DOTALL)  # noqa: B023
        GUIDE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else DATA, sys.argv[2:])
