"""Tests of the rewrite rules and the search for a fix."""
