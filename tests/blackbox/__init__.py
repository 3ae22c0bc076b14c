"""Tests of the derivatives of functions that can only be called."""
