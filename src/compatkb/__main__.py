"""`python -m compatkb`."""

from compatkb.cli import main

if __name__ == "__main__":
    main()
