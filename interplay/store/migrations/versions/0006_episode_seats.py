"""Who held which seat of an episode; whether it was played on a held-out seed"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("episodes", sa.Column("held_out", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.create_table(
        "episode_seats",
        sa.Column("episode_id", sa.String(), nullable=False),
        sa.Column("seat", sa.String(), nullable=False),
        sa.Column("actor", sa.String(), nullable=False),
        sa.Column("actor_kind", sa.String(), nullable=False),
        sa.Column("num_steps", sa.Integer(), nullable=False),
        sa.Column("total_reward", sa.Double(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("participant_id", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["episode_id"], ["episodes.id"], name=op.f("fk_episode_seats_episode_id_episodes")),
        sa.ForeignKeyConstraint(
            ["participant_id"], ["participants.id"], name=op.f("fk_episode_seats_participant_id_participants")
        ),
        sa.PrimaryKeyConstraint("episode_id", "seat", "actor", name=op.f("pk_episode_seats")),
    )
    for name in ("actor", "participant_id"):
        op.create_index(op.f(f"ix_episode_seats_{name}"), "episode_seats", [name], unique=False)
    # Until now every task had one seat, held by one actor all the time.
    op.execute(
        "INSERT INTO episode_seats (episode_id, seat, actor, actor_kind, num_steps, total_reward, position, participant_id) "
        "SELECT id, 'player', actor, actor_kind, num_steps, total_reward, 0, participant_id FROM episodes"
    )
    episodes = sa.table("episodes", *map(sa.column, ("task_hash", "seed", "held_out")))
    tasks = sa.table("tasks", sa.column("content_hash"), sa.column("definition", sa.JSON))
    for content_hash, definition in op.get_bind().execute(sa.select(tasks.c.content_hash, tasks.c.definition)).all():
        held_out = (episodes.c.task_hash == content_hash) & episodes.c.seed.in_(definition.get("held_out_seeds", []))
        op.execute(sa.update(episodes).where(held_out).values(held_out=sa.true()))
