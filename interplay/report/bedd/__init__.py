"""The report of BEDD: its tables and figures recomputed from recorded answers, beside the published numbers."""
