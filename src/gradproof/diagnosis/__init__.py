"""What is to be said, as data."""
