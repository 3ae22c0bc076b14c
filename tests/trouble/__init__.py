"""Scripts as people write them when something is wrong, and the reports that they should read."""
