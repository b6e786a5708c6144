"""Results of runs: boards, tests of pairs, references, and whether files of runs agree with their episodes."""
