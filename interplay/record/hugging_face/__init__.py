"""Episodes as data sets of the Hugging Face library `datasets`, without loss, and back: Parquet files and a card.

`columns` says what a row holds, `exporting` writes it, `importing` makes episodes of it.
"""
