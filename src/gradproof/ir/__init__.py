"""The captured program, free of any framework."""
