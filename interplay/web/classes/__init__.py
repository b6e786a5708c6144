"""Classes: pages for teachers (make a class, see its results) and for pupils (join, play, see their own results)."""
