"""Where files and rows are: a store of files, rows about files, and copies of whole databases."""
