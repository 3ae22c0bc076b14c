"""The report as one page: what stands where, how it looks, and how it answers to mouse and keyboard."""
