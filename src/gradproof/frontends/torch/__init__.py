"""PyTorch: what a program of the user's ran, forward and backward, and what its ops mean."""
