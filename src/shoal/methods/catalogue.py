"""The methods, each a frozen class of its own parameters.

Nothing but the standard library is loaded here: a search is loaded when it runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from shoal.methods.method import BOX_MEASURES, MEASURES, Method, parameter

_AFTER = "time that the search may take, instead of a fixed effort"
_ROUNDS = "rounds"
_KMODES = "kmodes: groups and iterations must be 1 or more"
_KACA = "kaca: weights must be one of height, uniform, example, and beta 0 or above"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mondrian(Method):
    """Multidimensional recoding by cuts at medians [lefevre2006], strict."""

    name: ClassVar[str] = "mondrian"
    family: ClassVar[str] = "mondrian"
    summary: ClassVar[str] = "cut the widest column at its median; equal values stay together"
    function: ClassVar[str] = "shoal.methods.mondrian.search:mondrian"
    kernel: ClassVar[str] = "shoal.kernels.mondrian.mondrian:cut_at_medians"
    relaxed: ClassVar[bool] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Auto(Mondrian):
    """A method that suits the job, see `jobs.auto`; before that, Mondrian."""

    name: ClassVar[str] = "auto"
    family: ClassVar[str] = "auto"
    summary: ClassVar[str] = "refine for a release, mondrian for a model"


@dataclass(frozen=True, slots=True, kw_only=True)
class MondrianRelaxed(Mondrian):
    """Multidimensional recoding by cuts at medians [lefevre2006], relaxed."""

    name: ClassVar[str] = "mondrian-relaxed"
    summary: ClassVar[str] = "the same, but records at the median may go to either side"
    relaxed: ClassVar[bool] = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Lattice(Method):
    """What the searches for one level a column have in common; none by itself."""

    family: ClassVar[str] = "lattice"
    function: ClassVar[str] = "shoal.methods.lattice.search:search"
    kernel: ClassVar[str] = "shoal.kernels.lattice.classes:group"
    takes: ClassVar[tuple[str, ...]] = ("utility", "suppression_limit", "threads")
    utilities: ClassVar[tuple[str, ...]] = MEASURES

    aggregate: Literal["geometric", "arithmetic", "max"] = parameter(
        "geometric",
        "how the loss joins the columns: geometric, arithmetic or max",
        fault="aggregate must be geometric, arithmetic or max",
    )
    seconds: float | None = parameter(None, _AFTER, least=0)
    memory: int = parameter(500_000_000, "bytes that counted nodes may take", least=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Flash(Lattice):
    """Greedy paths through the lattice, with tagging [kohlmayer2012]."""

    name: ClassVar[str] = "flash"
    summary: ClassVar[str] = "one level a column, the best node: greedy paths with tagging; optimal"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bfs(Lattice):
    """Breadth-first search of the lattice."""

    name: ClassVar[str] = "bfs"
    summary: ClassVar[str] = "the same by breadth-first search with pruning; optimal"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dfs(Lattice):
    """Depth-first search of the lattice."""

    name: ClassVar[str] = "dfs"
    summary: ClassVar[str] = "the same by depth-first search with pruning; optimal"


@dataclass(frozen=True, slots=True, kw_only=True)
class Incognito(Lattice):
    """Subsets of the columns first [lefevre2005]."""

    name: ClassVar[str] = "incognito"
    summary: ClassVar[str] = "the same, subset by subset of the columns; optimal"


@dataclass(frozen=True, slots=True, kw_only=True)
class BestFirst(Lattice):
    """Search of lattices of any size by a lower bound."""

    name: ClassVar[str] = "best-first"
    summary: ClassVar[str] = "the same by a lower bound on the loss; says what is proven"


@dataclass(frozen=True, slots=True, kw_only=True)
class Datafly(Lattice):
    """The greedy search of the first tools."""

    name: ClassVar[str] = "datafly"
    summary: ClassVar[str] = "raise the column with the most values until it holds; greedy"


@dataclass(frozen=True, slots=True, kw_only=True)
class Clustering(Method):
    """What methods that release the boxes of clusters have in common; none by itself."""

    family: ClassVar[str] = "clustering"
    takes: ClassVar[tuple[str, ...]] = ("suppression_limit", "utility", "target", "seed")
    utilities: ClassVar[tuple[str, ...]] = BOX_MEASURES


@dataclass(frozen=True, slots=True, kw_only=True)
class BestCut(Clustering):
    """Cuts by the loss that they leave."""

    name: ClassVar[str] = "bestcut"
    summary: ClassVar[str] = "cut where the loss falls most"
    function: ClassVar[str] = "shoal.methods.clustering.bestcut:bestcut"
    kernel: ClassVar[str] = "shoal.kernels.clustering.bestcut:cut_until_done"
    takes: ClassVar[tuple[str, ...]] = ("suppression_limit", "utility", "target", "seed")
    utilities: ClassVar[tuple[str, ...]] = (*BOX_MEASURES, "information")


@dataclass(frozen=True, slots=True, kw_only=True)
class Refine(Clustering):
    """Local search on what is lost."""

    name: ClassVar[str] = "refine"
    summary: ClassVar[str] = "a good start, then local search on the loss itself"
    function: ClassVar[str] = "shoal.methods.clustering.refine:refine"
    kernel: ClassVar[str] = "shoal.kernels.clustering.refine:local_search"
    takes: ClassVar[tuple[str, ...]] = (
        *("suppression_limit", "utility", "target", "seed", "threads"),
    )
    utilities: ClassVar[tuple[str, ...]] = (*BOX_MEASURES, "sse", "information")

    effort: Literal["fast", "normal", "best"] = parameter(
        "normal", "how long to search: fast, normal or best"
    )
    seconds: float | None = parameter(None, _AFTER, above=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class RefineCentroids(Refine):
    """What `refine` is where centroids are released: it searches on the squared error."""

    family: ClassVar[str] = "microaggregation"
    summary: ClassVar[str] = "local search on the squared error"
    function: ClassVar[str] = "shoal.methods.microaggregation.refine:refine"
    kernel: ClassVar[str] = "shoal.kernels.microaggregation.annealing:simulated_annealing"
    release: ClassVar[str] = "aggregate"
    takes: ClassVar[tuple[str, ...]] = ("suppression_limit", "utility", "seed", "threads")
    utilities: ClassVar[tuple[str, ...]] = ("sse",)


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalSuppression(Clustering):
    """Blanks where they save most: what [templ2015] calls local suppression."""

    name: ClassVar[str] = "local-suppression"
    summary: ClassVar[str] = "blank as few cells as can be; every other value stays as it is"
    function: ClassVar[str] = "shoal.methods.clustering.suppression:local_suppression"
    kernel: ClassVar[str] = Refine.kernel
    takes: ClassVar[tuple[str, ...]] = Refine.takes
    utilities: ClassVar[tuple[str, ...]] = ("ncp", "target")
    blanks: ClassVar[bool] = True

    effort: Literal["fast", "normal", "best"] = parameter(
        "normal", "how long to search: fast, normal or best"
    )
    seconds: float | None = parameter(None, _AFTER, above=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class KMember(Clustering):
    """Greedy k-member clustering [byun2007]."""

    name: ClassVar[str] = "kmember"
    summary: ClassVar[str] = "greedy k-member: grow clusters record by record"
    function: ClassVar[str] = "shoal.methods.clustering.kmember:kmember"
    kernel: ClassVar[str] = "shoal.kernels.clustering.kmember:greedy_kmember"
    takes: ClassVar[tuple[str, ...]] = ("suppression_limit", "utility", "target", "seed")

    cm: bool = parameter(False, "keep equal values of the target together")
    penalty: float = parameter(1.0, "what a record of another class costs, with cm", least=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class KMemberParallel(KMember):
    """The parallel form of k-member [netshiunda2020]."""

    name: ClassVar[str] = "kmember-parallel"
    summary: ClassVar[str] = "k-member with all clusters growing at once"
    function: ClassVar[str] = "shoal.methods.clustering.parallel:kmember_parallel"
    kernel: ClassVar[str] = "shoal.kernels.clustering.kmember_parallel:list_wishes"
    takes: ClassVar[tuple[str, ...]] = (
        *("suppression_limit", "utility", "target", "seed", "threads"),
    )

    groups: int = parameter(
        8, "groups, by numbers and by categories, to choose seeds from", least=1
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Oka(Clustering):
    """One-pass k-means [lin2008]."""

    name: ClassVar[str] = "oka"
    summary: ClassVar[str] = "one-pass k-means, then adjustment"
    function: ClassVar[str] = "shoal.methods.clustering.oka:oka"
    kernel: ClassVar[str] = "shoal.kernels.clustering.oka:one_pass_kmeans"

    iterations: int = parameter(1, _ROUNDS, least=1)
    size_factor: bool = parameter(True, "a large cluster counts as further away")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kaca(Clustering):
    """Merging of nearest classes [li2006]."""

    name: ClassVar[str] = "kaca"
    summary: ClassVar[str] = "merge the smallest class with the nearest"
    function: ClassVar[str] = "shoal.methods.clustering.kaca:kaca"
    kernel: ClassVar[str] = "shoal.kernels.clustering.kaca:merge_below_k"
    takes: ClassVar[tuple[str, ...]] = ("suppression_limit", "utility", "target")

    weights: Literal["uniform", "height", "example"] = parameter(
        "height", "of the steps up a hierarchy: uniform, height or example", fault=_KACA
    )
    beta: float = parameter(1.0, "how fast height weights fall", least=0, fault=_KACA)


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold(Clustering):
    """Clusters up to a threshold of diversity."""

    name: ClassVar[str] = "threshold"
    summary: ClassVar[str] = "grow clusters up to a threshold of diversity"
    function: ClassVar[str] = "shoal.methods.clustering.threshold:threshold"
    kernel: ClassVar[str] = "shoal.kernels.clustering.threshold:grow_clusters"
    spreads: ClassVar[bool] = True

    diversity: float | None = parameter(
        None, "the threshold; half a column more than a single record has, unless given"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Wfcm(Clustering):
    """C-means with weighted columns."""

    name: ClassVar[str] = "wfcm"
    summary: ClassVar[str] = "weighted feature C-means, then merge"
    function: ClassVar[str] = "shoal.methods.clustering.wfcm:wfcm"
    kernel: ClassVar[str] = "shoal.kernels.clustering.wfcm:assign_rows"

    iterations: int = parameter(10, _ROUNDS, least=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Microaggregation(Method):
    """What methods made for releasing centroids have in common; none by itself."""

    family: ClassVar[str] = "microaggregation"
    release: ClassVar[str] = "aggregate"
    takes: ClassVar[tuple[str, ...]] = ("suppression_limit",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mdav(Microaggregation):
    """Maximum distance to the average vector [domingo2005]."""

    name: ClassVar[str] = "mdav"
    summary: ClassVar[str] = "groups of k around the records furthest from the mean"
    function: ClassVar[str] = "shoal.methods.microaggregation.mdav:mdav"
    kernel: ClassVar[str] = "shoal.kernels.microaggregation.mdav:_mdav"


@dataclass(frozen=True, slots=True, kw_only=True)
class VMdav(Microaggregation):
    """MDAV with groups of different sizes [solanas2006]."""

    name: ClassVar[str] = "vmdav"
    summary: ClassVar[str] = "the same, but groups may take near records up to 2k - 1"
    function: ClassVar[str] = "shoal.methods.microaggregation.mdav:vmdav"
    kernel: ClassVar[str] = "shoal.kernels.microaggregation.mdav:_vmdav"

    gamma: float = parameter(
        0.2,
        "how readily a group takes more than k",
        least=0,
        fault="gamma must be a number from 0 on (0.2: scattered data)",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SemanticMdav(Microaggregation):
    """What MDAV for categories and mixed tables has in common; none by itself.

    Attributes:
        whole: equal records stay together.
        moving: distances are measured from a cluster's centroid, not from its first tuple.
        generic: clusters are made two at a time while 3k records are left, one more while 2k.
    """

    function: ClassVar[str] = "shoal.methods.microaggregation.smdav:semantic_mdav"
    kernel: ClassVar[str] = "shoal.kernels.microaggregation.semantic_mdav:semantic_mdav"
    whole: ClassVar[bool] = False
    moving: ClassVar[bool] = False
    generic: ClassVar[bool] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MdavGeneric(SemanticMdav):
    """MDAV for categories [domingo2005]: two are as far apart as can be, or equal.

    The average is the mode, on a line the mean or the median. A cluster is a record and the
    k - 1 nearest to it; two are made at a time while 3k records are left, one more while 2k are,
    and the rest is the last.
    """

    name: ClassVar[str] = "mdav-generic"
    summary: ClassVar[str] = "MDAV for categories: equal or not"
    centroid: ClassVar[str | None] = "equal"
    generic: ClassVar[bool] = True


@dataclass(frozen=True, slots=True, kw_only=True)
class SMdav(SemanticMdav):
    """Algorithm 1 of [veltmann2022] with every record a tuple of its own.

    Equal records may fall into different clusters, and every cluster but a few has k records.
    """

    name: ClassVar[str] = "s-mdav"
    summary: ClassVar[str] = "MDAV with semantic distance, record by record"
    moving: ClassVar[bool] = True


@dataclass(frozen=True, slots=True, kw_only=True)
class SaMdav(SemanticMdav):
    """Algorithm 1 of [veltmann2022] on distinct tuples: equal records stay together.

    Distances are the weighted semantic ones: multiplied by the tuple's number of records.
    The centroid of a cluster is found anew whenever it grows; it counts as one record.
    With `absorb`, clusters in which no tuple has k records of its own are dissolved: their
    tuples go to the nearest clusters that have one, where that makes the sum of squared
    distances smaller (the improvement that section 4.1.1 proposes).
    """

    name: ClassVar[str] = "sa-mdav"
    summary: ClassVar[str] = "MDAV on distinct tuples with their frequencies"
    whole: ClassVar[bool] = True
    moving: ClassVar[bool] = True

    absorb: bool = parameter(False, "rare tuples join large groups near them")


@dataclass(frozen=True, slots=True, kw_only=True)
class SaMdavStatic(SaMdav):
    """The same, but measured from a cluster's first tuple, not its centroid."""

    name: ClassVar[str] = "sa-mdav-static"
    summary: ClassVar[str] = "the same, measured from the first tuple of a group"
    moving: ClassVar[bool] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class KModes(Microaggregation):
    """Nearest modes [torra2004]: the average is the mode ([veltmann2022], section 2.2.1)."""

    name: ClassVar[str] = "kmodes"
    summary: ClassVar[str] = "nearest modes, found anew round by round"
    function: ClassVar[str] = "shoal.methods.microaggregation.kmodes:kmodes"
    kernel: ClassVar[str] = "shoal.kernels.microaggregation.kmodes:kmodes"
    takes: ClassVar[tuple[str, ...]] = ("suppression_limit", "seed")
    centroid: ClassVar[str | None] = "equal"

    groups: int | None = parameter(
        None, "how many modes; as many as clusters of k could be, unless given",
        least=1, fault=_KMODES,
    )  # fmt: skip
    iterations: int = parameter(10, _ROUNDS, least=1, fault=_KMODES)


@dataclass(frozen=True, slots=True, kw_only=True)
class MondrianCategorical(Microaggregation):
    """Mondrian for categories ([veltmann2022], section 3.2.1).

    Attributes:
        gaps: cut at the widest gap, not at the centroid.
        shuffles: categories stand in a random order.
    """

    name: ClassVar[str] = "mondrian-categorical"
    summary: ClassVar[str] = "cut categories at their centroid, in the order of their tree"
    function: ClassVar[str] = "shoal.methods.mondrian.semantic:semantic_mondrian"
    kernel: ClassVar[str] = "shoal.kernels.mondrian.semantic:cut_semantically"
    gaps: ClassVar[bool] = False
    shuffles: ClassVar[bool] = False

    persist: bool = parameter(True, "try every cut of a column")


@dataclass(frozen=True, slots=True, kw_only=True)
class MondrianUnordered(MondrianCategorical):
    """Mondrian for categories in a random order: what the order of a tree is worth."""

    name: ClassVar[str] = "mondrian-unordered"
    summary: ClassVar[str] = "cut categories at their centroid, in a random order"
    takes: ClassVar[tuple[str, ...]] = ("suppression_limit", "seed")
    shuffles: ClassVar[bool] = True


@dataclass(frozen=True, slots=True, kw_only=True)
class SaMondrian(MondrianCategorical):
    """Mondrian by the widest gap ([veltmann2022], section 3.2.2)."""

    name: ClassVar[str] = "sa-mondrian"
    summary: ClassVar[str] = "cut where two neighbouring categories are furthest apart"
    gaps: ClassVar[bool] = True
