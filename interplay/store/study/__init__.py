"""Studies in the database: definitions, enrolments, visits, classes, money, and their numbers."""
