"""The oracle: a planner that knows the whole world, but acts only with a player's keys, to prove that an instance can be done.

    from interplay.explore.oracle.proving import prove

    verdict = prove(instance)
    verdict.milestones[0].tick                    # tick at which it was reached, or None

`sources` finds items in a scene. `planner` plans each rule backwards to the first step, and `proving` tries orders of
milestones on copies of the world. `hops` tests whether tasks need each other as the graph says, and `needs` proves
it from the rules of the world. `recording` does all this for many instances and records the actions that worked.
"""
