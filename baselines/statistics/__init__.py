"""Statistics shared by every baseline: arrays in, numbers out.

`n` rows are what was compared (captions, dialogues, cases). `clusters`, an id per row (article, case), says which rows
belong together: they are drawn or flipped as a whole, and a row without an id is an error. Everything random takes a
`seed` and nothing else.
"""
