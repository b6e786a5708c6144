"""What one visit's pay follows from, as people read it."""

from __future__ import annotations

from typing import Any

from interplay.cli.common import table


def explained_text(document: dict[str, Any]) -> Any:
    """The document of `Explanation.to_json` as a page of text."""
    from rich.console import Group

    from interplay.study.incentives.words import amount

    one, rules = document, document["treatment"]
    currency = "" if rules is None else rules["currency"]
    lines = [f"enrolment  {one['enrolment']}, {one['worker']}: {one['outcome']}", f"version    {one['version'][:12]}"]
    if rules is None:
        lines.append("games      none: nothing was given to play")
    else:
        lines.append(f"variant    {one['variant']} (given because: {one['variant_reason']})")
    parts: list[Any] = [*lines, ""]
    if one["games"]:
        names = list(one["totals"])
        rows = [
            (game["episode"], game["at"][:19], *(f"{game['statistics'].get(name, 0):g}" for name in names))
            for game in one["games"]
        ]
        rows.append(("all games", "", *(f"{one['totals'][name]:g}" for name in names)))
        parts += [table(["game", "began", *(f"#{name}" for name in names)], rows), ""]
    if one["requirements"]:
        rows = [
            (part["label"], f"{part['achieved']:g}", f"{part['required']:g}", f"{100 * part['share']:.0f} %")
            for part in one["requirements"]
        ]
        parts += [table(["requirement", "#reached", "#asked", "#share"], rows), ""]
    if rules is not None and rules["bonus"] is not None:
        parts += [f"bonus rule  {_rule(rules['bonus'])}", ""]
    if one["ledger"]:
        rows = [
            (line["number"], line["at"][:19], line["kind"], line["state"], f"{line['amount_cents'] / 100:.2f}", line["request"])
            for line in one["ledger"]
        ]
        parts += [table(["#line", "written", "kind", "state", "#amount", "request"], rows), ""]
    owed = (one["reward_cents"] + one["bonus_cents"]) / 100
    said = f"owed {owed:.2f} {currency} ({one['reward_cents'] / 100:.2f} reward + {one['bonus_cents'] / 100:.2f} earned or won)"
    if (waited := one["waited"]) is not None:
        how_long, enough = amount("time", waited["waited_s"]), amount("time", waited["after_s"])
        parts.append(
            f"Waited {how_long} for a partner, and nobody came; {enough} is enough for {waited['pay_cents'] / 100:.2f}."
        )
    parts.append(f"{said}; the ledger says that {one['sent_cents'] / 100:.2f} was sent.")
    if not one["is_final"] and one["waited"] is None:
        parts.append("The visit has not ended as done: these are its games up to now.")
    parts.append(
        "The rules give the amount in the ledger."
        if one["agrees"]
        else "The rules do NOT give the amount in the ledger: please report this."
    )
    return Group(*parts)


def _rule(bonus: dict[str, Any]) -> str:
    most = f"{bonus['max_cents'] / 100:.2f}"
    counted = f"{bonus.get('statistic') or bonus['correct']} / {bonus['full_at']:g}"
    share = f"{bonus.get('correct')} / {bonus.get('out_of')}"
    if bonus["kind"] == "sliding":
        return f"{most} x min(1, {counted}) x max(0, 2 x ({share} - 1/2)), rounded up"
    return f"{most} x min(1, {counted}{f', {share}' if bonus.get('out_of') else ''}), rounded up"
