"""Play sessions name the server that holds them, so that a server recovers only its own games."""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("play_sessions", sa.Column("node", sa.String(), nullable=True))
