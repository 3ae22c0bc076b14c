"""One gradient in every way of running it: modes as data, where two of them part, whose doing it was, a verdict."""
