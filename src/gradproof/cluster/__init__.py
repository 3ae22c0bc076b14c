"""Work in many processes, on this machine or on a cluster, by Dask distributed."""
