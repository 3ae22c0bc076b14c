"""What a PyTorch program does while it is observed: its ops, its memory, its gradient calls."""
