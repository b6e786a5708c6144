"""Import and export published evaluation sets: the answers of a study, its banned workers and its videos.

The format is that of BEDD (Milani et al. 2023), see docs/dataset.md. `import_answers` imports a file. `export_file` writes the
answers of this server, in the same format (`export_answers`) or as a table with one row for each answer (`flat_table`).
"""

from interplay.judge.published.dataset_export import Selection, export_answers
from interplay.judge.published.dataset_import import import_answers
from interplay.judge.published.flat import ENDINGS, export_file, flat_table
from interplay.judge.published.row import DatasetError
from interplay.record.exchange.pseudonyms import open_pseudonyms

__all__ = [
    "ENDINGS",
    "DatasetError",
    "Selection",
    "export_answers",
    "export_file",
    "flat_table",
    "import_answers",
    "open_pseudonyms",
]
