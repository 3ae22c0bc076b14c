"""From enclosures to verdicts."""
