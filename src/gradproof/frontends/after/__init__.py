"""What is looked at when a program has ended."""
