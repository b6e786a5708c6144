"""Pages of `explore`: scenes with milestones, runs of language models, their boards, and milestones reached in episodes."""
