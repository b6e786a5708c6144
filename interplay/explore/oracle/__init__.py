"""The oracle: a planner that sees the world and acts only by keys, to prove that an instance can be done.

    from interplay.explore.oracle.proving import prove

    verdict = prove(instance)
    verdict.milestones[0].tick                    # when it was reached, or why it was not

`sources` says what in a scene gives an item, `planner` plans each rule back to what must be done, and `proving` tries orders on
copies of the world; `recording` has the actions that worked recorded as an episode, `hops` examines whether hops are real, and
`jobs` does all that for many instances.
"""
