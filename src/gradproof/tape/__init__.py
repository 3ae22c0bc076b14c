"""The embedded engine's face: a gradient tape on NumPy."""
