"""Qualification quizzes: their data, their files, their place in a study, and their export to other platforms."""
