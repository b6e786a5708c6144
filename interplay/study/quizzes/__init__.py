"""Qualification quizzes: as data, from files, as part of a study, and for other platforms."""
