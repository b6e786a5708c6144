"""Answers that their judges took back"""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None

_WHY = "retractions are only ever added"


def upgrade() -> None:
    op.create_table(
        "retractions",
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["sequence"], ["answers.sequence"], name=op.f("fk_retractions_sequence_answers")),
        sa.PrimaryKeyConstraint("sequence", name=op.f("pk_retractions")),
    )
    if op.get_bind().dialect.name == "sqlite":
        there = " WHEN EXISTS (SELECT 1 FROM retractions WHERE sequence = NEW.sequence)"
        for change, condition in {"insert": there, "update": "", "delete": ""}.items():
            op.execute(
                f"CREATE TRIGGER retractions_are_kept_{change} BEFORE {change} ON retractions{condition} "
                f"BEGIN SELECT RAISE(ABORT, '{_WHY}'); END"
            )
        return
    op.execute(
        f"CREATE FUNCTION retractions_are_kept() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION '{_WHY}'; END $$"
    )
    for change, each in {"update": "ROW", "delete": "ROW", "truncate": "STATEMENT"}.items():
        op.execute(
            f"CREATE TRIGGER retractions_are_kept_{change} BEFORE {change} ON retractions FOR EACH {each} "
            "EXECUTE FUNCTION retractions_are_kept()"
        )
