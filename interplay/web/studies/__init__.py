"""A participant's way through a study: arriving, quiz, judging, playing or reviewing, questions, the end."""
