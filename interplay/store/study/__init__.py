"""Studies in the database: definitions, enrolments, visits, classes, money, and statistics about studies."""
