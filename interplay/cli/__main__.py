"""`python -m interplay.cli`."""

from interplay.cli import main

main()
