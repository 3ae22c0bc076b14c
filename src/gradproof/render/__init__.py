"""A report as characters, one format per file."""
