"""What studies have on Mechanical Turk"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), "postgresql")


def upgrade() -> None:
    op.create_table(
        "hit_events",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study", sa.String(), nullable=False),
        sa.Column("study_hash", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("is_sandbox", sa.Boolean(), nullable=False),
        sa.Column("endpoint", sa.String(), nullable=False),
        sa.Column("request", sa.String(), nullable=False),
        sa.Column("made", _JSON, nullable=False),
        sa.Column("detail", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["study"], ["studies.id"], name=op.f("fk_hit_events_study_studies")),
        sa.ForeignKeyConstraint(
            ["study_hash"], ["study_versions.content_hash"], name=op.f("fk_hit_events_study_hash_study_versions")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_hit_events")),
    )
    with op.batch_alter_table("hit_events", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_hit_events_study"), ["study"], unique=False)
