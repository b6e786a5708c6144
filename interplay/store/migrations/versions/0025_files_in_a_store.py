"""The database says which films were made, and which store has the files."""

import sqlalchemy as sa
from alembic import op

from interplay.store.models import UTCDateTime

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "media_files",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("made_at", UTCDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_media_files")),
    )
    op.create_table(
        "places",
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("address", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("kind", name=op.f("pk_places")),
    )
