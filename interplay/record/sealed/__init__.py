"""Sealed episodes: make a Parquet file from a journal, and read its facts and frames only when they are needed."""
