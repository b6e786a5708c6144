"""Results of runs: boards, tests of pairs, references, and checks that files of runs agree with their episodes."""
