"""Where work is done: in this process, in several of this machine, or on a cluster; the same bytes everywhere."""
