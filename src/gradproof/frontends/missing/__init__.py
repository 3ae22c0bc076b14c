"""Why a gradient is missing, read off the recorded run."""
