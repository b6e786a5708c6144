"""Benchmarks of learning: train every (task, algorithm, seed) of one file and compare the algorithms with intervals.

`definition.py` reads the file, `runner.py` makes the missing runs, `results.py` holds the results, and `scores.py` has the
arithmetic of Agarwal et al. 2021. `interplay report offline` writes the report.
"""

from interplay.learn.benchmark.definition import Benchmark, BenchmarkError, read
from interplay.learn.benchmark.results import Results

__all__ = ["Benchmark", "BenchmarkError", "Results", "read"]
