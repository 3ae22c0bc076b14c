"""Python values, random numbers and state that tracing freezes."""
