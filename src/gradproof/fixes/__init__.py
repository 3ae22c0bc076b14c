"""Changes that mend a fault: found by rules, proven to be the same function, run, and written as a patch."""
