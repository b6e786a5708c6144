"""The way of a participant through a study: arriving, quiz, judging, playing or reviewing, questions, the end."""
