"""Studies of reviews: `part` reads the `[review]` table of a file, `reviews` is the service. An instance is a document here;
only `explore` knows its meaning."""
