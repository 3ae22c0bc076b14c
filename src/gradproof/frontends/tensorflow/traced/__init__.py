"""What traced functions do: learnt while they are traced, and when they are called."""
