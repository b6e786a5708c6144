"""Results of runs: boards, tests of pairs, what models are compared with, and whether files of runs agree with their
episodes."""
