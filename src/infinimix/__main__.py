"""`python -m infinimix` is the command `infinimix`."""

from infinimix.cli import main

if __name__ == "__main__":
    main()
