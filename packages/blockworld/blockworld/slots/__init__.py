"""Operations on slots and their stacks, and the places of slots on screens."""
