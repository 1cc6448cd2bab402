"""The report as blocks: five parts, in the words and the order that every format has."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.core.documents import to_yaml
from shoal.reports import charts
from shoal.reports.blocks import Block, Box, Cards, Code, Heading, Items, Section, Table, Text
from shoal.reports.document import Column, Held, ReportDocument, RiskPart, UtilityPart
from shoal.reports.pictures import Associations
from shoal.reports.words import percent

_SIGNED = ("Decided by", "Data protection", "Date and place")
_LARGEST = 12


def blocks_of(report: ReportDocument) -> tuple[Block, ...]:
    """Return the blocks of a page, top to bottom."""
    found = [*_first_page(report), *_columns(report)]
    if report.risk is not None:
        found += _risk(report.risk)
    if report.utility is not None:
        found += _utility(report.utility)
    return (*found, *_making(report))


def _part(number: int, text: str) -> Heading:
    return Heading(text=f"{number}. {text}", level=2, is_part=True)


def _first_page(report: ReportDocument) -> list[Block]:
    decision, making = report.decision, report.making
    dated = "" if making.date is None else f", {making.date}"
    found: list[Block] = [
        Heading(text=report.title, level=1),
        Text(text=f"{report.audience.capitalize()} report{dated}", tone="note"),
    ]
    if decision.warnings:
        found += [
            Heading(text="Warnings", level=2),
            Items(items=decision.warnings, tone="bad"),
        ]
    found += [_part(1, "For the decision")]
    found += [
        Text(text=text, tone="lead" if i == 0 else "") for i, text in enumerate(decision.what)
    ]
    to = decision.recipient or "nobody was named (--recipient)"
    found.append(
        Table(
            head=("", ""),
            rows=(
                ("It may go to", to),
                ("Purpose", decision.purpose or "not stated (--purpose)"),
                ("Prepared by", making.by or "not stated (--by)"),
            ),
        )
    )
    cards = [
        (each.name, each.text, each.sentence, charts.gauge(each.name, each.share, each.limit))
        for each in decision.numbers
    ]
    found.append(Cards(cards=tuple(cards)))
    found += _promises(report)
    if decision.profile is not None:
        found += _profile(decision.profile)
    found.append(
        Box(
            title="Decision",
            ticks=("may be given to the recipient named above", "may not be given away"),
            lines=_SIGNED,
        )
    )
    return found


def _promises(report: ReportDocument) -> list[Block]:
    promises = report.decision.promises
    if not promises:
        return []
    rows = [
        (each.words, each.model, each.worst, "holds" if each.holds else "broken")
        for each in promises
    ]
    return [
        Heading(text="The promise", level=3),
        Table(
            head=("in plain words", "model", "worst class", "verdict"),
            rows=tuple(rows),
            numbers=(2,),
            tones=tuple("good" if each.holds else "bad" for each in promises),
        ),
    ]


def _profile(held: Held) -> list[Block]:
    profile = held.profile
    limits = []
    if profile["max_risk"] is not None:
        limits.append(f"{profile['measure']} risk of at most {profile['max_risk']}")
    if profile["smallest_class"] is not None:
        limits.append(f"classes of at least {profile['smallest_class']}")
    word = "passed" if held.passed else "NOT passed"
    return [
        Heading(text=f"Profile: {profile['title']}", level=3),
        Text(
            text=f"{word}: {' and '.join(limits)} ({profile['model']})",
            tone="good" if held.passed else "bad",
        ),
        *([Items(items=held.failures)] if held.failures else []),
        Text(
            text=f"Source: {profile['source']}, of {profile['date']}. {profile['says']}",
            tone="note",
        ),
    ]


def _columns(report: ReportDocument) -> list[Block]:
    if not report.columns:
        return []
    rows = [
        (each.name, each.role, each.why, each.technique, _lost(each))
        for each in report.columns
        if each.role != "none"
    ]
    found: list[Block] = [
        _part(2, "The columns"),
        Table(
            head=("column", "role", "why", "in the release", "lost"),
            rows=tuple(rows),
            numbers=(4,),
        ),
    ]
    left = [each.name for each in report.columns if each.role == "none"]
    if left:  # in a row of the table dozens of names leave no room for the rest
        text = f"Left out, because nobody gave them a role: {', '.join(left)}."
        found.append(Text(text=text, tone="note"))
    drawn = [each for each in report.columns if each.bars is not None]
    for each in drawn:
        assert each.bars is not None
        found.append(
            Section(
                blocks=(
                    Heading(text=each.name, level=3),
                    charts.bars(f"{each.bars.unit}s by {each.name}", each.bars),
                )
            )
        )
    notes = dict.fromkeys(each.bars.note for each in drawn if each.bars is not None)
    return [*found, *(Text(text=note, tone="note") for note in notes)]


def _lost(column: Column) -> str:
    return "" if column.loss is None else percent(column.loss)


def _risk(risk: RiskPart) -> list[Block]:
    found: list[Block] = [_part(3, "The risk")]
    if risk.attackers:
        limited = any(each.limit is not None for each in risk.attackers)
        rows = [
            (f"{each.name}, {each.measure}", each.knows, _share(each.before), _share(each.after),
             *((_share(each.limit),) if limited else ()))
            for each in risk.attackers
        ]  # fmt: skip
        tones = tuple(
            "" if each.limit is None or each.after is None
            else "good" if each.after <= each.limit * (1 + 1e-12) else "bad"
            for each in risk.attackers
        )  # fmt: skip
        head = ("attacker", "", "before", "after", *(("limit",) if limited else ()))
        found += [
            Heading(text="By attacker", level=3),
            Table(head=head, rows=tuple(rows), numbers=(2, 3, 4), tones=tones),
            charts.attacker_chart(risk.attackers),
        ]
    if risk.sizes is not None:
        found.append(
            Section(
                blocks=(
                    Heading(text="Sizes of classes", level=3),
                    charts.bars("sizes of classes", risk.sizes),
                    Text(text=risk.sizes.note, tone="note"),
                )
            )
        )
    if risk.columns:
        named = sorted(risk.columns.items(), key=lambda item: -item[1])[:_LARGEST]
        found += [
            Heading(text="What each column adds", level=3),
            charts.shares("what each column adds to the risk", named),
        ]
    found += _attacks(risk)
    found += [
        Heading(text="The three questions", level=3),
        Text(text="Of the European opinion on anonymisation techniques (WP 216).", tone="note"),
        Table(
            head=("question", "answer"),
            rows=tuple((f"{each.question}: {each.asks}", each.answer) for each in risk.questions),
        ),
        Heading(text="What is not protected", level=3),
        Items(items=risk.not_protected),
    ]
    return found


def _attacks(risk: RiskPart) -> list[Block]:
    if not risk.attacks:
        return []
    rows = [
        (each.name, f"{each.targets:,}", _share(each.before), _share(each.after),
         f"{percent(each.low)} – {percent(each.high)}", percent(each.guessing))
        if each.targets else (each.name, "nobody", "–", "–", "–", "–")
        for each in risk.attacks
    ]  # fmt: skip
    return [
        Heading(text="Attacks that were carried out", level=3),
        Table(
            head=(
                "attack",
                "targets",
                "right before",
                "right after",
                "95 % confidence",
                "guessing",
            ),
            rows=tuple(rows),
            numbers=(1, 2, 3, 4, 5),
        ),
        *(
            [charts.attack_chart(risk.attacks)]
            if any(each.targets for each in risk.attacks)
            else []
        ),
        Text(
            text="Point: right after, with its confidence interval. Circle: before. Stroke: "
            "guessing.",
            tone="note",
        ),
    ]


def _share(share: float | None) -> str:
    return "–" if share is None else percent(share)


def _utility(utility: UtilityPart) -> list[Block]:
    found: list[Block] = [_part(4, "The utility")]
    if utility.losses:
        named = list(utility.losses.items())[:_LARGEST]
        worst = ", ".join(f"{name} ({percent(share)})" for name, share in named[:3])
        found += [
            Text(text=f"Most is lost in {worst}."),
            charts.shares("share of each column's information that is lost", named),
        ]
    if utility.measures:
        rows = [(each.name, each.text, each.sentence) for each in utility.measures]
        found.append(Table(head=("measure", "value", "it says"), rows=tuple(rows), numbers=(1,)))
    if utility.fidelity:
        rows = [(each.name, each.text, each.sentence) for each in utility.fidelity]
        found += [
            Heading(text="How near it is to the table", level=3),
            Table(head=("measure", "value", "it says"), rows=tuple(rows), numbers=(1,)),
        ]
    if utility.models:
        head = ("model", "trained on", "macro-F1", "AUC", "accuracy")
        found += [
            Heading(text="Models trained on it", level=3),
            Table(head=head, rows=utility.models, numbers=(2, 3, 4)),
            Text(text=utility.models_note, tone="note"),
        ]
    if utility.associations is not None:
        found += _associations(utility.associations)
    return found


def _associations(found: Associations) -> list[Block]:
    names = tuple(f"{place} {name}" for place, name in enumerate(found.columns, start=1))
    drawn: list[Block] = []
    if found.before is not None:
        lost = [
            [new - old for old, new in zip(*pair, strict=True)]
            for pair in zip(found.before, found.after, strict=True)
        ]
        drawn.append(charts.heat_map("before", names, found.before))
        drawn.append(charts.heat_map("after", names, found.after))
        most = max((abs(each) for row in lost for each in row), default=0.0)
        title = f"change (red: lost; darkest: {most:.2g})"
        drawn.append(charts.heat_map(title, names, lost, darkest=most or 1.0))
    else:
        drawn.append(charts.heat_map("after", names, found.after))
    return [
        Section(
            blocks=(
                Heading(text="How columns go together", level=3),
                Text(
                    text="The darker, the more one column says about the other (Cramér's V of the "
                    "bins).",
                    tone="note",
                ),
                Section(blocks=tuple(drawn)),
            )
        )
    ]


def _making(report: ReportDocument) -> list[Block]:
    making = report.making
    rows: list[tuple[str, str]] = [*making.facts.items()]
    rows += [(f"SHA-256 of the {name}", text) for name, text in making.hashes.items()]
    rows += [(f"version of {name}", text) for name, text in making.versions.items()]
    rows += [] if making.date is None else [("date", making.date)]
    rows += [] if making.by is None else [("prepared by", making.by)]
    found: list[Block] = [
        _part(5, "How it was made"),
        Table(head=("", ""), rows=tuple(rows)),
    ]
    if making.checklist:
        head = ("kind, 45 CFR 164.514(b)(2)(i)", "columns", "")
        found += [
            Heading(text="HIPAA Safe Harbor", level=3),
            Table(head=head, rows=making.checklist),
        ]
    found += _listed("Waivers", making.waivers) + _listed("Notices", making.notices)
    if making.hierarchies:
        found.append(Heading(text="Hierarchies", level=3))
        for name, drawing in making.hierarchies.items():
            found.append(Section(blocks=(Text(text=name), Code(text=drawing))))
    if making.request is not None:
        found += [
            Heading(text="How to repeat it", level=3),
            Code(text=to_yaml(making.request).rstrip("\n")),
        ]
    return found


def _listed(title: str, texts: Sequence[str]) -> list[Block]:
    return [Heading(text=title, level=3), Items(items=tuple(texts))] if texts else []
