"""How long players waited for others"""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("play_sessions") as table:
        table.add_column(sa.Column("waited_s", sa.Float(), nullable=True))
        table.add_column(sa.Column("came", sa.String(), nullable=True))


def downgrade() -> None:
    raise NotImplementedError("stored data is never removed: restore a backup from before to go back")
