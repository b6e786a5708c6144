"""What a study of reviews asks and of which instances: `part` reads it from the file, `choosing` says who gets which instance,
and `reviews` is its service. An instance is a document here; what it means is known to `explore`.
"""
