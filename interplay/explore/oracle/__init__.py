"""The oracle: a planner that knows the whole world and acts only by keys, to prove that an instance can be done.

    from interplay.explore.oracle.proving import prove

    verdict = prove(instance)
    verdict.milestones[0].tick                    # tick at which it was reached, or None

`sources` finds items in a scene. `planner` plans each rule backwards to the first step, and `proving` tries orders of
milestones on copies of the world. `hops` examines whether hops are real, and `needs` proves it by the rules of the world.
`recording` does all that for many instances and records the actions that worked.
"""
