"""From the record of a gradient call to captures: programs, rules, Jacobians."""
