"""Pages of `explore`: scenes with milestones, runs of language models, their boards, and what was reached in episodes."""
