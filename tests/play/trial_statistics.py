"""Statistics of tests, as a user writes them."""

from interplay.statistics import Collector, SeenStep, Statistic


class Shots(Collector):
    """Counts steps with the button."""

    statistic = Statistic("button_steps", "Steps with the button", "int", "steps")

    def see(self, step: SeenStep) -> None:
        for seat, action in step.actions.items():
            self.counts[seat]["count"] += action == 1


class Failing(Collector):
    """Works for a second, then not."""

    statistic = Statistic("failing", "Failing", "int")

    def see(self, step: SeenStep) -> None:
        if step.step == 60:
            raise ValueError("a mistake of its author")
