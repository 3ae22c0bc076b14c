"""Running a user's script under observation."""
