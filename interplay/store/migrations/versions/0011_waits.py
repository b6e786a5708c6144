"""How long players waited for others"""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("play_sessions", sa.Column("waited_s", sa.Double(), nullable=True))
    op.add_column("play_sessions", sa.Column("came", sa.String(), nullable=True))
