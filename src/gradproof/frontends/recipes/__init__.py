"""Meanings that several frameworks share, written as ops of the program."""
