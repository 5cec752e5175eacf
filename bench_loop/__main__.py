"""`python -m bench_loop`: the same program as the `bench-loop` console script."""

from bench_loop.cli import main

if __name__ == "__main__":
    main()
