"""One file per cause, discovered."""
