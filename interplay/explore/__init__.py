"""The benchmark for language-model agents: scenes with milestones, and rules that say when a milestone is reached.

    from interplay.explore import facts, instance, rules

    made = instance.load("bridge.json")
    made.task()                                   # is played, recorded and verified as all other tasks

`instance` is one scene with its tasks and milestones. `rules` judges plain facts without a world, and `facts` collects these
facts from a real world. `checking` finds mistakes in an instance, and `mineexplorer` reads the published layout.
"""
