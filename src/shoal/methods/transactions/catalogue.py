"""Every method for columns of sets, as an object of its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from shoal.core.errors import MethodError
from shoal.methods.method import Method, Setting, parameter

if TYPE_CHECKING:
    from shoal.methods.transactions.goal import SetGoal
    from shoal.table.baskets import Baskets, SetRecoding


@dataclass(frozen=True, slots=True, kw_only=True)
class SetMethod(Method):
    """One way to recode the items of sets."""

    family: ClassVar[str] = "transactions"
    kernel: ClassVar[str] = "shoal.kernels.transactions.merging:merge_rare"
    constrained: ClassVar[bool] = False  # labels stay within an owner's utility constraints

    def search_sets(self, baskets: Baskets, goal: SetGoal, setting: Setting) -> SetRecoding:
        """Find a recoding of the items that reaches the goal."""
        raise NotImplementedError

    def must_compile(self) -> bool:
        """Its loops compile in a few seconds, unasked."""
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemSets(SetMethod):
    """Our own: sets merged as little as can be, then items wherever they are frequent enough."""

    name: ClassVar[str] = "itemsets"
    summary: ClassVar[str] = "sets of items, taken apart and merged again; local choice of items"
    function: ClassVar[str] = "shoal.methods.transactions.itemsets:search_itemsets"
    takes: ClassVar[tuple[str, ...]] = ("seed",)

    effort: Literal["fast", "normal", "best"] = parameter(
        "normal", "how often sets are taken apart and merged again"
    )
    across: bool = parameter(
        False, "sets may hold items of several groups below the root of the hierarchy"
    )
    local: bool = parameter(True, "release an item as itself in records where it is not rare")
    bound: float = parameter(
        1.0, "beside other columns: their classes grow until sets lose at most this", least=0.0
    )

    def search_sets(self, baskets: Baskets, goal: SetGoal, setting: Setting) -> SetRecoding:
        """Find a recoding of the items that reaches the goal."""
        from shoal.methods.transactions.itemsets import search_itemsets

        return search_itemsets(
            baskets, goal, setting, effort=self.effort, across=self.across, local=self.local
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Apriori(SetMethod):
    """Apriori anonymization (AA) [terrovitis2008]."""

    name: ClassVar[str] = "apriori"
    summary: ClassVar[str] = "AA: a cut of the item hierarchy, sets of 1, 2 … m items in turn"
    function: ClassVar[str] = "shoal.methods.transactions.apriori:search_apriori"
    takes: ClassVar[tuple[str, ...]] = ("seed",)

    local: bool = parameter(
        False, "ours: a label goes down the hierarchy in records where it is not rare (m to 3)"
    )

    def search_sets(self, baskets: Baskets, goal: SetGoal, setting: Setting) -> SetRecoding:
        """Find a recoding of the items that reaches the goal."""
        from shoal.methods.transactions.apriori import search_apriori
        from shoal.methods.transactions.levels import search_levels

        if self.local:
            return search_levels(baskets, goal, setting)
        return search_apriori(baskets, goal)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lra(SetMethod):
    """Local recoding anonymization: AA in parts of like records [terrovitis2011]."""

    name: ClassVar[str] = "lra"
    summary: ClassVar[str] = "LRA: apriori in parts of like records, each with a cut of its own"
    function: ClassVar[str] = "shoal.methods.transactions.apriori:search_lra"

    parts: int = parameter(4, "how many parts the records are cut into", least=1)

    def search_sets(self, baskets: Baskets, goal: SetGoal, setting: Setting) -> SetRecoding:
        """Find a recoding of the items that reaches the goal."""
        from shoal.methods.transactions.apriori import search_lra

        return search_lra(baskets, goal, parts=self.parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Vpa(SetMethod):
    """Vertical partitioning anonymization: AA among few items first [terrovitis2011]."""

    name: ClassVar[str] = "vpa"
    summary: ClassVar[str] = "VPA: apriori in parts of the items, then over all of them"
    function: ClassVar[str] = "shoal.methods.transactions.apriori:search_vpa"

    parts: int = parameter(4, "how many parts the items are cut into", least=1)

    def search_sets(self, baskets: Baskets, goal: SetGoal, setting: Setting) -> SetRecoding:
        """Find a recoding of the items that reaches the goal."""
        from shoal.methods.transactions.apriori import search_vpa

        return search_vpa(baskets, goal, parts=self.parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pcta(SetMethod):
    """Privacy-constrained clustering of items [gkoulalas2012]."""

    name: ClassVar[str] = "pcta"
    constrained: ClassVar[bool] = True
    summary: ClassVar[str] = "PCTA: a constraint at a time, its items merged with what costs least"
    function: ClassVar[str] = "shoal.methods.transactions.constrained:search_constrained"

    def search_sets(self, baskets: Baskets, goal: SetGoal, setting: Setting) -> SetRecoding:
        """Find a recoding of the items that reaches the goal."""
        from shoal.methods.transactions.constrained import search_constrained

        return search_constrained(baskets, goal, rarest=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Coat(SetMethod):
    """Constraint-based anonymization of transactions [loukides2011]."""

    name: ClassVar[str] = "coat"
    constrained: ClassVar[bool] = True
    summary: ClassVar[str] = "COAT: the rarest item of a constraint, merged within an owner's sets"
    function: ClassVar[str] = "shoal.methods.transactions.constrained:search_constrained"

    def search_sets(self, baskets: Baskets, goal: SetGoal, setting: Setting) -> SetRecoding:
        """Find a recoding of the items that reaches the goal."""
        from shoal.methods.transactions.constrained import search_constrained

        return search_constrained(baskets, goal, rarest=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Disassociation(SetMethod):
    """Items as they are, and rare combinations not linked [terrovitis2012]."""

    name: ClassVar[str] = "disassociation"
    summary: ClassVar[str] = "records taken apart in clusters, so that nothing rare is linked"
    function: ClassVar[str] = "shoal.methods.transactions.disassociation:disassociated"

    size: int = parameter(30, "records of a cluster, about", least=2)

    def search_sets(self, baskets: Baskets, goal: SetGoal, setting: Setting) -> SetRecoding:
        """Refuse: there is no label for each item; see `shoal.jobs.disassociation`."""
        raise MethodError(problem="--method disassociation releases a column of sets alone")


SET_METHODS: Mapping[str, type[SetMethod]] = {
    kind.name: kind for kind in (ItemSets, Apriori, Lra, Vpa, Pcta, Coat, Disassociation)
}
"""The methods for columns of sets, in the order of a listing."""
