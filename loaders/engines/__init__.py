"""Where work runs: in this process, in several, or on a cluster. The results are the same bytes everywhere."""
