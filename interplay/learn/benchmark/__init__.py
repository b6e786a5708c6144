"""Benchmarks of learning: tasks x algorithms x seeds from one file, run until nothing is missing, compared with intervals.

`definition.py` is the file, `runner.py` trains and plays what is missing, `results.py` holds the results, and `scores.py` the
arithmetic of Agarwal et al. 2021 on them. The report is `interplay report offline`.
"""

from interplay.learn.benchmark.definition import Benchmark, BenchmarkError, read
from interplay.learn.benchmark.results import Results

__all__ = ["Benchmark", "BenchmarkError", "Results", "read"]
