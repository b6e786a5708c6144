"""High scores of tasks, and the process that proves these scores."""
