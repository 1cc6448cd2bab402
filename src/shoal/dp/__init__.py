"""Differentially private statistics on OpenDP, and the budget that pays for them.

Nothing is imported here: the light parts (ledgers) work without OpenDP, and
the heavy ones load when a question is really asked.
"""
