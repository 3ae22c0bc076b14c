"""What every frontend records: the neutral record of a gradient call, which calls are looked at, whose line it is."""
