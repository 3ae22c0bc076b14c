"""One file per rewrite: pattern, replacement, its proof."""
