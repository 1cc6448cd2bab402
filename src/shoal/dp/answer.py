"""What comes back from a question: the value, its error bar, its price, and plain words."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

from shoal.core.errors import MethodError

Number = float | int
Value = Number | dict[str, Number | None] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyNumber:
    """One number that was really released with noise; a value may be computed from several."""

    of: str
    value: Number
    scale: float
    mechanism: str

    def to_document(self) -> dict[str, object]:
        """Return the number as plain data."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The answer for the whole table, or for one group of it.

    `value` None means that the noise leaves too few records to speak of.
    `within` and `missing_within` are half-widths of error bars.
    """

    value: Number | None
    within: Number | None
    label: tuple[str, ...] = ()
    records: float | None = None
    missing: int | None = None
    missing_within: int | None = None
    parts: tuple[NoisyNumber, ...] = ()

    def to_document(self) -> dict[str, object]:
        """Return the result as plain data."""
        document: dict[str, object] = {"value": self.value, "within": self.within}
        if self.records is not None:
            document["records"] = self.records
        if self.missing is not None:
            document["missing"] = {"value": self.missing, "within": self.missing_within}
        document["parts"] = [part.to_document() for part in self.parts]
        return document


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A differentially private answer and everything that may be said about it.

    `unit` says what `within` and `scale` are counted in: `column` (the column's
    own unit, to the power of a moment's order) or `records`.
    """

    statistic: str
    column: str | None
    results: tuple[Result, ...]
    others: Result | None = None
    cells: tuple[str, ...] = ()
    epsilon: float
    delta: float
    rho: float | None
    accounting: str
    mechanism: str
    scale: float
    scale_unit: str
    unit: str
    confidence: float
    remaining: float
    privacy_unit: str
    dataset: str
    bounds: tuple[float, float] | None = None
    notes: tuple[str, ...] = field(default=())

    @property
    def value(self) -> Value:
        """The value: a number or None; a mapping by name for groups and histograms."""
        if self.cells and not self._grouped:
            return {r.label[-1]: r.value for r in self.results}
        if self._grouped:
            return {" / ".join(r.label): r.value for r in self.results}
        return self.results[0].value

    @property
    def within(self) -> Number | None:
        """The half-width of the error bar; of the widest one, where there are several."""
        bars = [r.within for r in self.results if r.within is not None]
        return max(bars) if bars else None

    @property
    def _grouped(self) -> bool:
        return len(self.results[0].label) > (1 if self.cells else 0)

    def group(self, *label: str) -> Result:
        """Return the result of one named group.

        Raises:
            MethodError: the group was not named in the question.
        """
        for result in self.results:
            if result.label == label:
                return result
        raise MethodError(problem="that group was not named in the question; nothing was released")

    def to_document(self) -> dict[str, object]:
        """Return the answer as `shoal stats --json` prints it."""
        document: dict[str, object] = {
            "statistic": self.statistic,
            "column": self.column,
            "value": self.value,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "rho": self.rho,
            "accounting": self.accounting,
            "mechanism": self.mechanism,
            "scale": self.scale,
            "scale_unit": self.scale_unit,
            "accuracy": {
                "within": self.within,
                "confidence": self.confidence,
                "unit": self.unit,
            },
            "remaining": self.remaining,
            "bounds": list(self.bounds) if self.bounds is not None else None,
            "privacy_unit": self.privacy_unit,
            "dataset": self.dataset,
        }
        if self.results[0].label:
            document["groups"] = [{"group": list(r.label), **r.to_document()} for r in self.results]
            if self.others is not None:
                document["others"] = self.others.to_document()
        else:
            document.update(
                {k: v for k, v in self.results[0].to_document().items()
                 if k not in ("value", "within")}
            )  # fmt: skip
        document["notes"] = list(self.notes)
        return document

    def __str__(self) -> str:
        name = f"{self.statistic} of {self.column}" if self.column else self.statistic
        lines = []
        rows = [*self.results, *([self.others] if self.others is not None else [])]
        for result in rows:
            label = " / ".join(result.label) or (name if result is not self.others else "others")
            lines.append(f"{label}: {self._bar(result)}")
            if result.missing is not None:
                lines.append(
                    f"  records without a value: {result.missing} ±{result.missing_within}"
                )
        if self.results[0].label:
            lines.insert(0, name)
        cost = f"epsilon {self.epsilon:g}"
        if self.delta:
            cost += f", delta {self.delta:g}"
        if self.rho is not None:
            cost += f" (rho {self.rho:.6g})"
        lines.append(
            f"cost {cost}; {self.mechanism}, scale {self.scale:.6g} ({self.scale_unit}); "
            f"{self.remaining:.6g} of epsilon left"
        )
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def _bar(self, result: Result) -> str:
        if result.value is None:
            return "no answer (too few records for this epsilon)"
        what = " in rank (records)" if self.unit == "records in rank" else ""
        value = f"{result.value:.6g}" if isinstance(result.value, float) else f"{result.value}"
        return f"{value}, within ±{result.within:.4g}{what} with {100 * self.confidence:g} %"
