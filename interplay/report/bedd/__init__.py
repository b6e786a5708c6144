"""The BEDD report: its tables and figures recomputed from recorded answers, beside the published numbers."""
