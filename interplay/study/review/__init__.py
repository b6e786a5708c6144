"""Studies of reviews: `part` reads the `[review]` table of a file, `reviews` is the service.
An instance is only a document here; the package `explore` gives it a meaning."""
