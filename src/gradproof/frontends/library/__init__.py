"""A library as a sweep sees it: its ops, calls of them as text, and the inputs they are tried at."""
