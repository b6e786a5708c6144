"""High scores of tasks, and the process that proves them."""
