"""Promises: what a release keeps about each equivalence class, a file a promise.

    KAnonymity        k-anonymity             a class has at least k records
    LDiversity        l-diversity             its sensitive values are spread over l values
    TCloseness        t-closeness             they are spread as in the whole table, up to t
    NTCloseness       (n,t)-closeness         … as in some set of n records around the class
    AlphaKAnonymity   (alpha,k)-anonymity     k records, no sensitive value above a share alpha
    BetaLikeness      beta-likeness           no value's share gains more than beta times its own
    DeltaDisclosure   delta-disclosure        every value's share stays within a factor e^delta
    MUniqueness       m-uniqueness            m sensitive values, all equally frequent
    KmAnonymity       km-anonymity            any m items that a record holds are held by k
    Requirements      privacy-requirements    … certain items, by k records or none
    RhoUncertainty    rho-uncertainty         m items known make no sensitive one likelier than rho

A missing sensitive value is a value of its own: it counts in every histogram.
"""

# In the order in which people name them: reports and command lines list promises so.
# isort: off
from shoal.privacy.k_anonymity import KAnonymity
from shoal.privacy.l_diversity import LDiversity
from shoal.privacy.t_closeness import TCloseness
from shoal.privacy.nt_closeness import NTCloseness
from shoal.privacy.alpha_k_anonymity import AlphaKAnonymity
from shoal.privacy.beta_likeness import BetaLikeness
from shoal.privacy.delta_disclosure import DeltaDisclosure
from shoal.privacy.m_uniqueness import MUniqueness
from shoal.privacy.km_anonymity import KmAnonymity
from shoal.privacy.requirements import Requirements
from shoal.privacy.rho_uncertainty import RhoUncertainty

# isort: on
from shoal.privacy.distances import Reference
from shoal.privacy.itemsets import Itemsets
from shoal.privacy.judge import Verdict, judge_classes, judge_counts, judge_sizes
from shoal.privacy.promise import (
    PROMISES,
    TOLERANCE,
    Better,
    EquivalenceClass,
    Needs,
    Option,
    Promise,
)
from shoal.privacy.registry import expand, from_document, from_flags

__all__ = [
    "PROMISES",
    "TOLERANCE",
    "AlphaKAnonymity",
    "BetaLikeness",
    "Better",
    "DeltaDisclosure",
    "EquivalenceClass",
    "Itemsets",
    "KAnonymity",
    "KmAnonymity",
    "LDiversity",
    "MUniqueness",
    "NTCloseness",
    "Needs",
    "Option",
    "Promise",
    "Reference",
    "Requirements",
    "RhoUncertainty",
    "TCloseness",
    "Verdict",
    "expand",
    "from_document",
    "from_flags",
    "judge_classes",
    "judge_counts",
    "judge_sizes",
]
