"""The BEDD report: the paper's tables and figures, computed again from recorded answers, next to the published numbers."""
