"""Bytes and paths that nobody meant: what reads them ends with its value or with one error of ours.

    ./scripts/fuzz 100000            # the long campaign; CI tries 2,500 cases

`bench` is a process in which cases are tried, `damage` spoils files, `yard` holds what is read and where paths lead,
`readers` lists who reads, `lines` makes command lines out of the table of commands.
"""
