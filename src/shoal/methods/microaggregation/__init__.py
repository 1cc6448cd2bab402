"""Microaggregation: groups of at least k records around their centres."""
