"""Runs and differentiates a program in a domain."""
