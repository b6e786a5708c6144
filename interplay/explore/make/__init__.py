"""How instances are made.

`synthesis` makes many: candidates by seed, then several agents in turn (`debate`) or one. `roles` says who is bound to what,
`turns` reads replies, `draft` is what they work on, `sandbox` lets them look, and `gate` lets nothing through that is unproved.
"""
