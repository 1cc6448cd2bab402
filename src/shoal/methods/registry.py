"""The methods by name: what they are, and where their code is (loaded when asked for)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

from shoal.core.errors import MethodError
from shoal.methods.frequency import FrequencyTable
from shoal.methods.recoding import Recoding
from shoal.privacy import Promise


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """One way to find a recoding.

    Attributes:
        home: "module:function" of the search.
        fixed: options that this name stands for.
        options: names of the options that a user may set.
        kernel: "module:function" of the compiled loop, to tell whether it must be compiled.
        release: what a class releases: "generalize" (intervals, common ancestors) or
            "aggregate" (centroids).
        centroid: the distance that makes a node the centroid of categories: "equal", the mode;
            None: that of the column.
        spreads: it looks at every sensitive column, whether or not the promise names it.
    """

    name: str
    family: str
    summary: str
    home: str
    kernel: str
    fixed: Mapping[str, Any] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    release: str = "generalize"
    centroid: str | None = None
    spreads: bool = False

    def run(self, table: FrequencyTable, models: Sequence[Promise], **options: object) -> Recoding:
        """Search. Options that the method does not know are left out."""
        given = {name: value for name, value in options.items() if value is not None}
        known = {name: value for name, value in given.items() if name in self.options}
        found: Recoding = _load(self.home)(table, models, **self.fixed, **known)
        return found

    def must_compile(self) -> bool:
        """Say whether the first run will spend seconds in the compiler."""
        kernel = _load(self.kernel)
        if getattr(kernel, "signatures", None):
            return False
        # Numba has no public question for "is it in the cache?"; its index file answers.
        cache = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
        try:
            return not cache._load_index()  # type: ignore[union-attr]
        except AttributeError:
            return False


def _load(home: str) -> Any:
    module, _, name = home.partition(":")
    return getattr(import_module(module), name)


_MONDRIAN = "shoal.methods.mondrian.search:mondrian"
_MONDRIAN_KERNEL = "shoal.kernels.mondrian:run"

_LATTICE = ("utility", "aggregate", "suppression_limit", "threads", "seconds", "memory")

# name, home, kernel, options, summary
_CLUSTERING: tuple[tuple[str, str, str, tuple[str, ...], str], ...] = (
    ("bestcut", "bestcut:bestcut", "cut:run", (), "cut where the loss falls most"),
    (
        "refine",
        "refine:refine",
        "local:run",
        ("effort", "seconds", "seed", "threads"),
        "a good start, then local search on the loss itself",
    ),
    (
        "kmember",
        "kmember:kmember",
        "member:run",
        ("cm", "target", "penalty", "seed"),
        "greedy k-member: grow clusters record by record",
    ),
    (
        "kmember-parallel",
        "parallel:kmember_parallel",
        "together:look",
        ("cm", "target", "penalty", "groups", "seed", "threads"),
        "k-member with all clusters growing at once",
    ),
    (
        "oka",
        "oka:oka",
        "oka:run",
        ("iterations", "size_factor", "seed"),
        "one-pass k-means, then adjustment",
    ),
    (
        "kaca",
        "kaca:kaca",
        "kaca:run",
        ("weights", "beta"),
        "merge the smallest class with the nearest",
    ),
    (
        "threshold",
        "threshold:threshold",
        "threshold:run",
        ("diversity", "seed"),
        "grow clusters up to a threshold of diversity",
    ),
    (
        "wfcm",
        "wfcm:wfcm",
        "wfcm:run",
        ("iterations", "seed"),
        "weighted feature C-means, then merge",
    ),
)

# name, home, kernel, options, summary: methods made for releasing centroids
_MICRO: tuple[tuple[str, str, str, tuple[str, ...], str], ...] = (
    (
        "mdav",
        "microaggregation.mdav:mdav",
        "microaggregation_mdav:run",
        (),
        "groups of k around the records furthest from the mean",
    ),
    (
        "vmdav",
        "microaggregation.mdav:vmdav",
        "microaggregation_mdav:run",
        ("gamma",),
        "the same, but groups may take near records up to 2k - 1",
    ),
    (
        "mdav-generic",
        "microaggregation.smdav:mdav_generic",
        "microaggregation_grow:run",
        (),
        "MDAV for categories: equal or not",
    ),
    (
        "s-mdav",
        "microaggregation.smdav:s_mdav",
        "microaggregation_grow:run",
        (),
        "MDAV with semantic distance, record by record",
    ),
    (
        "sa-mdav",
        "microaggregation.smdav:sa_mdav",
        "microaggregation_grow:run",
        ("absorb",),
        "MDAV on distinct tuples with their frequencies",
    ),
    (
        "sa-mdav-static",
        "microaggregation.smdav:sa_mdav_static",
        "microaggregation_grow:run",
        ("absorb",),
        "the same, measured from the first tuple of a group",
    ),
    (
        "kmodes",
        "microaggregation.kmodes:kmodes",
        "microaggregation_modes:run",
        ("groups", "iterations", "seed"),
        "nearest modes, found anew round by round",
    ),
    (
        "mondrian-unordered",
        "mondrian.semantic:mondrian_unordered",
        "mondrian_semantic:run",
        ("persist", "seed"),
        "cut categories at their centroid, in a random order",
    ),
    (
        "mondrian-categorical",
        "mondrian.semantic:mondrian_categorical",
        "mondrian_semantic:run",
        ("persist",),
        "cut categories at their centroid, in the order of their tree",
    ),
    (
        "sa-mondrian",
        "mondrian.semantic:sa_mondrian",
        "mondrian_semantic:run",
        ("persist",),
        "cut where two neighbouring categories are furthest apart",
    ),
)

# Methods whose average is the mode ([veltmann2022], sections 2.2.1 and 2.2.2).
_MODES = ("mdav-generic", "kmodes")

METHODS: Mapping[str, Method] = {
    method.name: method
    for method in (
        Method(
            name="mondrian",
            family="mondrian",
            summary="cut the widest column at its median; equal values stay together",
            home=_MONDRIAN,
            kernel=_MONDRIAN_KERNEL,
            fixed={"relaxed": False},
        ),
        Method(
            name="mondrian-relaxed",
            family="mondrian",
            summary="the same, but records at the median may go to either side",
            home=_MONDRIAN,
            kernel=_MONDRIAN_KERNEL,
            fixed={"relaxed": True},
        ),
        *[
            Method(
                name=name,
                family="lattice",
                summary=summary,
                home="shoal.methods.lattice.search:search",
                kernel="shoal.kernels.lattice:group",
                fixed={"method": name},
                options=_LATTICE,
            )
            for name, summary in (
                ("flash", "one level a column, the best node: greedy paths with tagging; optimal"),
                ("bfs", "the same by breadth-first search with pruning; optimal"),
                ("dfs", "the same by depth-first search with pruning; optimal"),
                ("incognito", "the same, subset by subset of the columns; optimal"),
                ("best-first", "the same by a lower bound on the loss; says what is proven"),
                ("datafly", "raise the column with the most values until it holds; greedy"),
            )
        ],
        *[
            Method(
                name=name,
                family="clustering",
                summary=summary,
                home=f"shoal.methods.clustering.{home}",
                kernel=f"shoal.kernels.clustering_{kernel}",
                options=("suppression_limit", *options),
                spreads=name == "threshold",
            )
            for name, home, kernel, options, summary in _CLUSTERING
        ],
        *[
            Method(
                name=name,
                family="microaggregation",
                summary=summary,
                home=f"shoal.methods.{home}",
                kernel=f"shoal.kernels.{kernel}",
                options=("suppression_limit", *options),
                release="aggregate",
                centroid="equal" if name in _MODES else None,
            )
            for name, home, kernel, options, summary in _MICRO
        ],
    )
}

# Methods that are not searches for a recoding: (name, family, what it does).
OTHERS = (
    (
        "xk",
        "adaptive",
        "fill pairs of xk … k - 1 records with false ones, suppress smaller ones",
    ),
)

AUTO = "mondrian"
"""What `auto` stands for where a model is learned: its classes leave no gaps between them."""

AUTO_RELEASE = "bestcut"
"""What `auto` stands for where a table is released: less loss than Mondrian, in little time."""

# Methods that search otherwise when centroids are to be released.
AGGREGATING: Mapping[str, Method] = {
    "refine": Method(
        name="refine",
        family="microaggregation",
        summary="local search on the squared error",
        home="shoal.methods.microaggregation.refine:refine",
        kernel="shoal.kernels.microaggregation_refine:run",
        options=("suppression_limit", "effort", "seconds", "seed", "threads"),
        release="aggregate",
    ),
}


RELEASES = ("generalize", "aggregate")


def find(name: str, *, release: str | None = None) -> Method:
    """Return the method called `name`; `auto` chooses one.

    Args:
        name: of the method.
        release: what its classes are to release; None: what the method is made for.

    Raises:
        MethodError: there is no such method, or no such way to release.
    """
    if release is not None and release not in RELEASES:
        raise MethodError(problem=f"--release must be one of {', '.join(RELEASES)}")
    wanted = AUTO if name == "auto" else name
    if wanted in {other[0] for other in OTHERS}:
        raise MethodError(
            problem=f"--method {name} adds false records to one table, so it has no recoding and "
            "no model; release a table with `shoal anonymize --method xk` or `shoal recommend "
            "--apply` (in Python: release_xk)"
        )
    if wanted not in METHODS:
        known = ", ".join(["auto", *METHODS])
        raise MethodError(problem=f"--method {name}: no such method; there are {known}")
    if release == "aggregate" and wanted in AGGREGATING:
        return AGGREGATING[wanted]
    method = METHODS[wanted]
    return method if release is None else replace(method, release=release)
