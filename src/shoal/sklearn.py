"""Recoding as a step of a scikit-learn pipeline (`shoal[sklearn]`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, Self, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.api import learn
from shoal.core.errors import MissingExtraError, NoSolutionError
from shoal.core.suggest import no_column
from shoal.formats.frames import to_lazy
from shoal.methods.method import Method
from shoal.model.column import label_of
from shoal.model.model import ModelColumn
from shoal.privacy import Promise
from shoal.schema.schema import Kind, Labels, Role, Schema

try:
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError:
    raise MissingExtraError(
        feature="shoal.sklearn", package="scikit-learn", extra="shoal[sklearn]"
    ) from None

if TYPE_CHECKING:
    from sklearn.utils import Tags

LABELS = ("midpoint", "bounds", "text")
Bounds = Mapping[str | None, tuple[float, float]]


class Recoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # it has no types
    """Learn a recoding that keeps a promise on the training records, and apply it to others.

    The training records fall into classes that keep the promise; `transform` replaces a record's
    quasi-identifiers by those of its class, record by record. It is a step of a pipeline and no
    release: to hand records on, use `shoal.anonymize`, or `encode_safe` of `model_`.

    Rows are never dropped. A record that no class covers takes the labels of the nearest class,
    and, where such a label does not cover its value, a wider one up to the root: `*`, or, as
    numbers, the ends of all that the classes release (0 where they release nothing else).
    A missing value is a value of its own, and missing in the result where a class has it.
    Labels are tight whatever a schema says: round ones overlap, and a training record might be
    given to another class than its own. So `model_` holds the values of people, as ends.

    Args:
        k: records per class; None: what `schema` and `privacy` promise.
        schema: roles and kinds of the columns; a Schema, a path or plain data.
        qi: in its place, the quasi-identifiers; other columns stay as they are. None: all
            columns. Columns of an array are called x0, x1 …
        privacy: what is promised beside k.
        method: the name of a method, or a method.
        labels: what a numeric quasi-identifier becomes: "midpoint" (a number), "bounds" (two
            columns, low and high) or "text" (`[34, 39]`). Other columns become texts.
        seed: of every choice by chance.

    Attributes:
        model_: the learned `shoal.RecodingModel`.
        schema_: the schema that it was learned by.
        n_features_in_: columns seen by `fit`.
        feature_names_in_: their names, where they have names.
    """

    def __init__(
        self,
        k: int | None = 5,
        *,
        schema: Schema | Mapping[str, object] | str | None = None,
        qi: Sequence[str] | None = None,
        privacy: Iterable[Promise] | None = None,
        method: str | Method = "auto",
        labels: Literal["midpoint", "bounds", "text"] = "midpoint",
        seed: int = 0,
    ) -> None:
        self.k = k
        self.schema = schema
        self.qi = qi
        self.privacy = privacy
        self.method = method
        self.labels = labels
        self.seed = seed

    def fit(self, X: object, y: object = None) -> Self:
        """Learn the recoding of X; y is ignored.

        Raises:
            ValueError: fewer records than k, or a promise, schema or option that cannot be meant.
        """
        if self.labels not in LABELS:
            raise ValueError(f"labels must be one of {', '.join(LABELS)}")
        frame = self._frame(X, reset=True)
        if self.k is not None and frame.height < self.k:
            raise ValueError(f"n_samples={frame.height} is fewer than k={self.k}: bring more")
        schema = replace(self._asked(frame), labels=Labels.TIGHT)
        try:
            self.model_ = learn(
                frame, schema, k=self.k, privacy=self.privacy, method=self.method, seed=self.seed
            )
        except NoSolutionError as error:
            raise ValueError(str(error)) from None
        self.schema_ = self.model_.schema
        self._numbers = {
            column.name: _bounds(column, self.schema_)
            for column in self.model_.columns
            if column.scale == "number"
        }
        self._roots = {column.name: column.root for column in self.model_.columns}
        return self

    def _asked(self, frame: pl.DataFrame) -> Schema:
        """Return the schema that is given, or that the names stand for."""
        if self.schema is not None:
            if self.qi is not None:
                raise ValueError("give either a schema or qi=, not both")
            return Schema.of(self.schema)
        names = list(frame.columns) if self.qi is None else list(self.qi)
        absent = [name for name in names if name not in frame.columns]
        if absent:
            raise ValueError(f"X {no_column(absent, frame.columns)}")
        columns = {
            name: {
                "role": str(Role.QUASI if name in names else Role.NEUTRAL),
                **({"kind": str(Kind.NUMERIC)} if dtype.is_numeric() and name in names else {}),
            }
            for name, dtype in frame.schema.items()
        }
        return Schema.from_document({"columns": columns})

    def transform(self, X: object) -> object:
        """Recode records, in their order."""
        check_is_fitted(self, "model_")
        frame = self._frame(X, reset=False)
        if not frame.height:
            raise ValueError("Found array with 0 sample(s), while a minimum of 1 is required")
        made = self.model_.encode(frame, on_unseen="nearest", suppressed="star").table
        columns: list[pl.Series] = []
        for name in self._released():
            bounds = self._numbers.get(name)
            if bounds is None or self.labels == "text":
                columns.append(made[name])
                continue
            whole = bounds[self._roots[name]]
            ends = [bounds.get(label, whole) for label in made[name].to_list()]
            low, high = np.array(ends, dtype=np.float64).T
            if self.labels == "midpoint":
                columns.append(pl.Series(name, low + (high - low) / 2))
            else:
                columns += [pl.Series(f"{name}_low", low), pl.Series(f"{name}_high", high)]
        return self._as_asked(pl.DataFrame(columns), getattr(X, "index", None))

    def _released(self) -> list[str]:
        gone = {a.name for a in self.schema_.attributes} - set(self.schema_.released)
        return [name for name in self._names() if name not in gone]

    def _as_asked(self, made: pl.DataFrame, index: object) -> object:
        """Return an array, or the frame that `set_output` asks for, with its types.

        index: of the pandas frame that came in: scikit-learn aligns rows by it.
        """
        config = getattr(self, "_sklearn_output_config", {}).get("transform", "default")
        if config == "polars":
            return made
        if config == "pandas":
            table = made.to_pandas()
            return table if index is None else table.set_axis(index, axis=0)
        return made.to_numpy()

    def get_feature_names_out(
        self, input_features: Sequence[str] | None = None
    ) -> NDArray[np.object_]:
        """Return the names of the columns that `transform` gives."""
        check_is_fitted(self, "model_")
        if input_features is not None and list(input_features) != self._names():
            raise ValueError("input_features is not equal to feature_names_in_")
        names = []
        for name in self._released():
            two = self.labels == "bounds" and name in self._numbers
            names += [f"{name}_low", f"{name}_high"] if two else [name]
        return np.array(names, dtype=object)

    def _names(self) -> list[str]:
        known = getattr(self, "feature_names_in_", None)
        return [f"x{i}" for i in range(self.n_features_in_)] if known is None else list(known)

    def _frame(self, X: object, *, reset: bool) -> pl.DataFrame:
        """Return X as a frame with named columns; refuse what scikit-learn refuses."""
        if _has_names(X):
            validate_data(self, X, reset=reset, skip_check_array=True)
            return to_lazy(X).collect()
        array = validate_data(self, X, reset=reset, dtype=None)
        if array.dtype.kind == "O":
            array = _plain(array)
        return pl.DataFrame({f"x{i}": array[:, i] for i in range(array.shape[1])})

    def __sklearn_tags__(self) -> Tags:
        """Return what scikit-learn must know: texts are taken, types are not preserved."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def _has_names(X: object) -> bool:
    module = type(X).__module__.partition(".")[0]
    return module in ("pandas", "polars", "pyarrow") and hasattr(X, "columns")


def _plain(array: NDArray[np.object_]) -> NDArray[np.object_] | NDArray[np.float64]:
    """Return an array of objects as numbers where all are, else as numbers and texts."""
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError):
        pass
    for value in array.flat:
        if not isinstance(value, (str, int, float, np.number, type(None))):
            raise TypeError("argument must be a string or a number")
    texts = [None if value is None else str(value) for value in array.flat]
    return np.array(texts, dtype=object).reshape(array.shape)


def _bounds(column: ModelColumn, schema: Schema) -> Bounds:
    """Return the ends of each label of a numeric column; of the root, those of all labels."""
    known = getattr(schema.attribute(column.name).hierarchy, "labels", ())
    found: dict[str | None, tuple[float, float]] = {}
    for cell in column.cells:
        low, high = cell.get("low"), cell.get("high")
        if low is not None and high is not None:
            found[label_of(cell, known)] = (float(low), float(high))
        elif "value" in cell:
            found[cell["value"]] = (float(cell["value"]), float(cell["value"]))
        elif "cut" in cell and "label" in cell:  # between two cuts: [1, 3], or one number
            low, _, high = cell["label"].strip("[]").partition(", ")
            found[cell["label"]] = (float(low), float(high or low))
    ends = list(found.values())
    if column.cuts is not None and column.cuts.first is not None:
        ends += [(float(end), float(end)) for end in (column.cuts.first, column.cuts.last) if end]
    whole = (min((e[0] for e in ends), default=0.0), max((e[1] for e in ends), default=0.0))
    for cell in column.cells:
        label = label_of(cell, known)
        missing = (np.nan, np.nan) if "missing" in cell else whole
        found.setdefault(label, missing)
    found.setdefault(column.root, whole)
    return cast(Bounds, found)
