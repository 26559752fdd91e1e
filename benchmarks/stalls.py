"""Does every page that would stall the HTML parser fail the check made on its bytes?

Random soups of the tags with rules of their own, repeated hundreds and thousands of times.  What passes the check is
parsed in a child process, which is killed after --deadline seconds.  The table says how many soups were sent elsewhere,
how many were parsed here, the longest parse and the longest check; every stall is named on stderr.
"""

import multiprocessing
import pathlib
import random
import sys
import time
from multiprocessing.connection import Connection

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

from benchmarks.common import flags, show
from crawler.reading.html import looks_costly, parse_html

# A # is replaced by a running number: attributes that differ defeat the standard's limit of three alike.
SPECIAL = """<b> <i> </b> </i> <p> </p> <div> </div> <a> </a> <table> <td> </td> </table> <tr> <caption> </caption> <li> <ul> </ul>
 <font> </font> <span> </span> <b_#> <i_#> <font_#> <em_#> <select> <option> <button> </button> <svg> </svg> <math> <mi> </math>
 <foreignObject> <desc> <template> </template> <h1> <dd> <form> <object> </object> <applet> </applet> <marquee> </marquee> <nobr>
 <x> </x> <code> </code> text <ruby> <rt> <frameset> <noscript> <p/> <br> </br> <input> <title> </title> <textarea> </textarea>
 <!--</div>--> <style></i></div></style> <![CDATA[</div>]]> <!x_</div> <i_title="</div>"> <html_#> <body_#>"""
TAGS = SPECIAL.split()


def soup(rng: random.Random) -> list[list[str]]:
    """Three runs of tags (the first and last often empty), drawn from a few kinds."""
    kinds = rng.sample(TAGS, rng.randint(1, 5))
    lengths = (rng.choice((0, 0, 1, 2)), rng.randint(1, 5), rng.choice((0, 0, 1, 2)))
    return [rng.choices(kinds, k=length) for length in lengths]


def page(runs: list[list[str]], times: int) -> bytes:
    pieces = ["".join(run).replace("_", " ") for run in runs]
    return "".join(piece.replace("#", f"a{i}") for piece in pieces for i in range(times)).encode()


def parse_all(work: Connection) -> None:
    """The child: parse what comes, answer with the CPU time it took."""
    while body := work.recv_bytes():
        started = time.process_time()
        parse_html(body)
        work.send(time.process_time() - started)


class Child:
    """A parser that can be killed."""

    def __init__(self) -> None:
        self.pipe, far = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=parse_all, args=(far,), daemon=True)
        self.process.start()

    def parse(self, body: bytes, deadline: float) -> float | None:
        self.pipe.send_bytes(body)
        if self.pipe.poll(deadline):
            return float(self.pipe.recv())
        self.process.kill()
        return None


def main() -> None:
    parser = flags(__doc__)
    parser.add_argument("--soups", type=int, default=1000)
    parser.add_argument("--deadline", type=float, default=5.0, help="seconds for one parse")
    args = parser.parse_args()
    rng = random.Random(args.seed)
    child = Child()
    costly = stalls = 0
    parses: list[float] = []
    checks: list[float] = []
    for _ in range(args.soups):
        runs = soup(rng)
        for times in (700, 9_000):
            body = page(runs, times)
            started = time.process_time()
            failed = looks_costly(body)
            checks.append(time.process_time() - started)
            if failed:
                costly += 1
                break
            taken = child.parse(body, args.deadline)
            if taken is None:
                stalls += 1
                print(f"stalled: {runs} x {times}", file=sys.stderr)
                child = Child()
                break
            parses.append(taken)
    row = {"sent elsewhere": costly, "parsed here": len(parses), "stalled": stalls}
    show(
        [{**row, "longest parse s": max(parses), "longest check s": max(checks)}], as_json=args.json
    )
    child.process.kill()


if __name__ == "__main__":
    main()
