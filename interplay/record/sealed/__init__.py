"""Sealed episodes: a Parquet file made of a journal, its facts and its frames, read lazily."""
