"""Classes: making one and its results for teachers; joining, playing and one's own results for pupils."""
