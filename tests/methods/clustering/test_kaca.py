import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.clustering.tables import groups_of, groups_of_pieces, records, tables
from tests.naive import clustering as naive

from shoal.core.errors import MethodError
from shoal.core.privacy import KAnonymity
from shoal.kernels.clustering_kaca import merge_classes
from shoal.methods.clustering.kaca import kaca
from shoal.methods.clustering.space import space_of


@settings(max_examples=60, deadline=None)
@given(table=tables(missing=True), k=st.integers(1, 6), short=st.sampled_from([0, 256]))
def test_fast_classes_are_the_papers_classes(table, k, short):
    data, rows = records(table)
    expected = naive.kaca(data, k, domains=table.domains)
    row, label, count = merge_classes(
        table.codes, table.counts, space=space_of(table.domains, short=short), k=k
    )
    found = groups_of_pieces(row, label, count)
    assert found == groups_of(expected, rows)


@pytest.mark.parametrize("options", [{"weights": "depth"}, {"beta": -1.0}])
def test_impossible_weights_are_refused(options):
    with pytest.raises(MethodError, match="--weights"):
        kaca(None, [KAnonymity(2)], **options)
