"""The oracle: a planner that sees the world and acts only by keys, to prove that an instance can be done.

    from interplay.explore.oracle.proving import prove

    verdict = prove(instance)
    verdict.milestones[0].tick                    # when it was reached, or why it was not

`sources` finds items in a scene, `planner` plans each rule back to the first step, and `proving` tries orders on copies of the
world. `recording` records the actions that worked as an episode, `hops` examines whether hops are real (`needs` proves it by
the rules of the world), and `jobs` does all that for many instances.
"""
