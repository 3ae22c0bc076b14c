"""What an eager program does: tapes, accumulators, custom gradients, variables."""
