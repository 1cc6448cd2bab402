"""Laws on small random tables: Spark and the local engine write the same bytes, and they hold."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from tests.laws.test_release_laws import cases, folder
from tests.naive import release as naive

from shoal import api
from shoal.core.errors import NoSolutionError

LAW = settings(
    max_examples=4, deadline=None, derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)  # fmt: skip


def written(case, place, table):
    """Return the bytes of a release; None where even one class for all breaks the promise."""
    out = place / "o.csv"
    try:
        api.anonymize(table, case.schema(), out=out, options=api.Options(method="mondrian-relaxed"))
    except NoSolutionError:
        assert not out.exists()
        return None
    return out.read_bytes()


@LAW
@given(case=cases(fewest=12))
def test_both_engines_write_the_same_release_and_it_holds(spark, case):
    with folder() as here, folder() as there:
        wanted = written(case, here, case.write(here / "t.csv"))
        found = written(case, there, api.SparkTable(case.write(there / "t.csv")))
        assert found == wanted
        if found is not None:
            rows = naive.read(there / "o.csv")
            assert naive.broken(rows, case.quasi, case.promise, columns=case.facts) == 0
