"""Operations on slots and the stacks in them, and the places of slots on screens."""
