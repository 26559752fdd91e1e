"""`python -m crawler`: hands the command line on."""

import sys


def main() -> int:
    from crawler.operator.command_line import run_command

    return run_command(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
