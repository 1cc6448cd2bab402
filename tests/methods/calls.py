"""Searches as plain functions with keywords: `kmember(table, models, cm=True, seed=3)`."""

from __future__ import annotations

from dataclasses import fields

from shoal.methods import catalogue
from shoal.methods.lattice import search as lattice
from shoal.methods.lattice.constraint import constraint_of
from shoal.methods.lattice.evaluate import Evaluator
from shoal.methods.method import Setting
from shoal.methods.registry import METHODS

_SHARED = {each.name for each in fields(Setting)}


def by_keywords(kind):
    """Return the search of a method as a function."""

    def search(table, models, **given):
        shared = {name: value for name, value in given.items() if name in _SHARED}
        own = {name: value for name, value in given.items() if name not in _SHARED}
        return kind(**own).search(table, models, Setting(**shared))

    search.__name__ = kind.__name__
    return search


def search(table, models, *, method="flash", **given):
    """Search a lattice."""
    return by_keywords(METHODS[method])(table, models, **given)


def explore(space, models, *, method="flash", utility="loss", suppression_limit=0.0, **own):
    """Search a lattice without making a release."""
    evaluator = Evaluator(space, constraint_of(models, space.table, limit=suppression_limit))
    return lattice.explore(evaluator, METHODS[method](**own), utility=utility)


def mondrian(table, models, *, relaxed=False):
    """Run Mondrian, strict or relaxed."""
    kind = catalogue.MondrianRelaxed if relaxed else catalogue.Mondrian
    return kind().search(table, models)


bestcut = by_keywords(catalogue.BestCut)
kaca = by_keywords(catalogue.Kaca)
kmember = by_keywords(catalogue.KMember)
kmember_parallel = by_keywords(catalogue.KMemberParallel)
kmodes = by_keywords(catalogue.KModes)
local_suppression = by_keywords(catalogue.LocalSuppression)
mdav = by_keywords(catalogue.Mdav)
mdav_generic = by_keywords(catalogue.MdavGeneric)
mondrian_categorical = by_keywords(catalogue.MondrianCategorical)
mondrian_unordered = by_keywords(catalogue.MondrianUnordered)
oka = by_keywords(catalogue.Oka)
refine = by_keywords(catalogue.Refine)
refine_centroids = by_keywords(catalogue.RefineCentroids)
s_mdav = by_keywords(catalogue.SMdav)
sa_mdav = by_keywords(catalogue.SaMdav)
sa_mdav_static = by_keywords(catalogue.SaMdavStatic)
sa_mondrian = by_keywords(catalogue.SaMondrian)
threshold = by_keywords(catalogue.Threshold)
vmdav = by_keywords(catalogue.VMdav)
wfcm = by_keywords(catalogue.Wfcm)
