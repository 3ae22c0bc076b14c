"""Makes the pictures of a report from a finished case, one file per picture, when they are asked for."""
