"""What a TensorFlow program did: every gradient it computed and the ops behind it.

Nothing here imports TensorFlow before the user's program has done so.
"""
