"""``python -m splice``: the command."""

from splice.cli import main

if __name__ == "__main__":
    main()
