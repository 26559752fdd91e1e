"""Reads a page that may stall the parser in a process of its own, which is killed at the deadline."""

import asyncio
import pickle
import resource
import sys

from crawler.clock import Clock
from crawler.reading.facts import PageFacts, PageKind, Trouble
from crawler.reading.page import read_page
from crawler.reading.rules import ReadingRules

_MOST_MEMORY = 1 << 30


class ApartReader:
    """One such page at a time: they are rare, and a host that sends many only waits for itself."""

    def __init__(self, clock: Clock, *, deadline: float) -> None:
        self._clock = clock
        self._deadline = deadline
        self._one = asyncio.Lock()

    async def read(
        self, body: bytes, *, url: str, content_type: str | None, status: int, rules: ReadingRules
    ) -> PageFacts:
        job = pickle.dumps((body, url, content_type, status, rules))
        async with self._one:
            with self._clock.real_wait():
                answer = await self._run(job)
        if answer is None:
            return PageFacts(url=url, kind=PageKind.OTHER, trouble=Trouble.PARSER_STALL)
        facts: PageFacts = pickle.loads(answer)  # noqa: S301  written by our own process just now
        return facts

    async def _run(self, job: bytes) -> bytes | None:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "crawler.apart",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        try:
            async with asyncio.timeout(self._deadline):
                answer, _ = await process.communicate(job)
            return answer if process.returncode == 0 else None
        except TimeoutError:
            return None
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()


def main() -> None:
    """The process's side: one pickled job in, one pickled answer out, in bounded memory.

    39 kB of crossed formatting tags made the parser take 1 GB."""
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
    body, url, content_type, status, rules = pickle.load(sys.stdin.buffer)  # noqa: S301  from our parent
    facts = read_page(body, url=url, content_type=content_type, status=status, rules=rules)
    sys.stdout.buffer.write(pickle.dumps(facts))


if __name__ == "__main__":
    main()
