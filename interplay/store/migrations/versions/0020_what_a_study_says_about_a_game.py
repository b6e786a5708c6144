"""What a study says about a game, beside its sessions: a server that is started again knows it, too"""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("play_sessions", sa.Column("for_study", sa.String(), nullable=True))
