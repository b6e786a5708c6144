"""A participant's way through a study: arrival, quiz, judging, playing or reviewing, questions, and the end."""
