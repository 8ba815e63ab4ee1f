"""One self-contained page of results: tables beside the paper's, figures, examples, run records, how to cite.

bedside report runs/language runs/retrieval --release runs/mine -o report.html
"""
