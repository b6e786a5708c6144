"""The tables of Interplay 0.2.0. A new database gets today's tables from the models, and never has an earlier revision."""

revision = "0022"
down_revision = None
branch_labels = None
depends_on = None
