"""Numbers that leave a framework and come back as constants."""
