"""Studies of reviews: `part` reads the `[review]` table of a file, `reviews` is the service.
Here an instance is only a document; `explore` knows its meaning."""
