"""Checks that are made later."""
