"""Checks that are made later, by other processes or on other machines, from what a run has written down."""
