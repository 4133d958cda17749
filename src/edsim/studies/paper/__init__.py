"""Every table and figure of the paper: which runs, which numbers, in which rows.

One module a table or figure, opening with the paper's label; nothing is computed in them that
another table could want. `paper_values.csv` holds what the paper prints.
"""
