"""`python -m interplay`: the command line."""

from interplay.cli import main

if __name__ == "__main__":
    main()
