"""Which seat of its game a play session is"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("play_sessions", sa.Column("seat", sa.String(), nullable=True))  # until now every game had one seat
