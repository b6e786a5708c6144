"""Qualification quizzes: as data, in files, as part of a study, and for other platforms."""
