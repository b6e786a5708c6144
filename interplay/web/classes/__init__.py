"""Classes: pages for teachers (making a class, its results) and for pupils (joining, playing, own results)."""
