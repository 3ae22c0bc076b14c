"""Number systems in which a program can be run."""
