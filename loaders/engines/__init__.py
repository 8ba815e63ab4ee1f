"""Where work runs: in this process, in several processes, or on a cluster. The results are the same bytes
everywhere."""
