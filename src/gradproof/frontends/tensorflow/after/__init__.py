"""Crashes, gradient calls that were not reached, rules that never ran."""
