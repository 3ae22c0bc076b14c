"""Listening to a running JAX program: the hooks, what they note, and which executions are looked at."""
