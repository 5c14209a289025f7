#!/usr/bin/env python3
"""Compares the speed of two builds or two settings of `coli` on one checkpoint, by a fixed protocol.

    streaming_protocol.py MODEL --a build-old/bin/coli --b build/bin/coli --options "--ram 3G"
    streaming_protocol.py MODEL --a build/bin/coli --options-a "--io threads" --options-b "--io uring"

The same greedy turn is made A B A B …, each time by a new process with a cold page cache and the same remembered data.
Before any speed is looked at, tokens, expert misses and bytes read must be equal in all runs. Then the ratio of B's rate
to A's is taken round by round, with a bootstrap interval of its median, and held against --at-least:

    PASS          the whole interval is at or above it     exit 0
    FAIL          the whole interval is below it, or the runs did not do equal work     exit 1
    INCONCLUSIVE  the interval holds it: more rounds, or a quieter machine, are needed     exit 3

Exit 2: wrong options, or a run of coli failed. Python's standard library only.
"""

import argparse
import json
import os
import pathlib
import random
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile

PROMPT = [5, 9, 100, 20, 33, 7, 81, 4]
METRICS = {
    "decode": lambda done: done["timings"]["decode_tokens_per_s"],
    "prefill": lambda done: done["prompt_tokens"] / done["timings"]["prefill_s"],
    "first-token": lambda done: 1 / done["timings"]["first_token_s"],
}


class RunFailed(Exception):
    pass


def drop_from_page_cache(folders):
    """Asks the system to forget the files, so that no run reads what an earlier one left in memory."""
    for folder in folders:
        for path in pathlib.Path(folder).rglob("*"):
            if not path.is_file():
                continue
            descriptor = os.open(path, os.O_RDONLY)
            try:
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(descriptor)


class Side:
    """One of the two things compared: a program, its options, and a data folder that every run finds the same."""

    def __init__(self, name, program, options, arguments, scratch):
        self.name = name
        self.command = [program, "run", arguments.model, "--tokens", str(scratch / "prompt.json"), "--ignore-eos",
                        "--max-tokens", str(arguments.max_tokens), "--json", *shlex.split(arguments.options),
                        *shlex.split(options)]
        self.data = scratch / f"data-{name}"
        self.kept = scratch / f"kept-{name}"
        self.folders = [arguments.model, *arguments.also_cold]
        self.runs = []

    def warm_up(self):
        """The first run measures drives and the like; what it remembers is what all others start from."""
        self.data.mkdir()
        self.once()
        shutil.copytree(self.data, self.kept)

    def measure(self):
        shutil.rmtree(self.data)
        shutil.copytree(self.kept, self.data)
        self.runs.append(self.once())

    def once(self):
        drop_from_page_cache(self.folders)
        environment = dict(os.environ, COLIBRI_DATA_DIR=str(self.data))
        result = subprocess.run(self.command, capture_output=True, text=True, env=environment, check=False)
        if result.returncode != 0:
            raise RunFailed(f"{shlex.join(self.command)} ended with {result.returncode}: {result.stderr.strip()}")
        events = [json.loads(line) for line in result.stdout.splitlines() if line.strip()]
        return next(event for event in reversed(events) if event.get("event") == "done")


def unequal_work(runs, compare_bytes):
    """Why speeds may not be compared; None when they may."""
    def differs(what, get):
        values = [get(run) for run in runs]
        if all(value == values[0] for value in values):
            return None
        shown = sorted({str(value)[:60] for value in values})
        return f"the runs differ in {what}: {' / '.join(shown[:4])}"

    checks = [("tokens", lambda run: run["tokens"])]
    if compare_bytes:
        checks += [("expert misses", lambda run: run["experts"]["misses"]),
                   ("bytes read", lambda run: run["experts"]["bytes_read"])]
    return next((why for why in (differs(what, get) for what, get in checks) if why), None)


def bootstrap(ratios, resamples=2000, level=0.95, seed=1):
    """Interval of the median ratio, rounds drawn with replacement."""
    rng = random.Random(seed)
    medians = sorted(statistics.median(rng.choices(ratios, k=len(ratios))) for _ in range(resamples))
    tail = (1 - level) / 2
    return medians[int(tail * resamples)], medians[min(resamples - 1, int((1 - tail) * resamples))]


def verdict_of(low, high, at_least):
    if low >= at_least:
        return "PASS"
    return "FAIL" if high < at_least else "INCONCLUSIVE"


def side_report(side, metric):
    rates = [metric(run) for run in side.runs]
    last = side.runs[-1]
    return {"command": shlex.join(side.command), "rates": rates, "median": statistics.median(rates),
            "misses": last["experts"]["misses"], "bytes_read": last["experts"]["bytes_read"],
            "direct": all(disk["direct"] for disk in last["experts"]["disks"]),
            "read_bytes_per_s": statistics.median(run["experts"]["read_bytes_per_s"] for run in side.runs)}


def compare(arguments, scratch):
    (scratch / "prompt.json").write_text(json.dumps(PROMPT))
    sides = [Side("a", arguments.a, arguments.options_a, arguments, scratch),
             Side("b", arguments.b or arguments.a, arguments.options_b, arguments, scratch)]
    for side in sides:
        side.warm_up()
    for number in range(arguments.rounds):
        for side in sides:
            side.measure()
            print(f"round {number + 1} {side.name}: {METRICS[arguments.metric](side.runs[-1]):.3f}", file=sys.stderr)
    metric = METRICS[arguments.metric]
    report = {"metric": arguments.metric, "rounds": arguments.rounds, "at_least": arguments.at_least,
              **{side.name: side_report(side, metric) for side in sides}}
    why = unequal_work([run for side in sides for run in side.runs], not arguments.different_work)
    if why is None and arguments.different_work:
        # What differs between the sides by intent must still not differ from run to run.
        why = next((found for found in (unequal_work(side.runs, True) for side in sides) if found), None)
    if why:
        return {**report, "verdict": "FAIL", "reason": why}, False
    ratios = [metric(b) / metric(a) for a, b in zip(sides[0].runs, sides[1].runs)]
    low, high = bootstrap(ratios)
    verdict = verdict_of(low, high, arguments.at_least)
    return {**report, "ratios": ratios, "ratio": statistics.median(ratios), "interval": [low, high],
            "verdict": verdict}, True


def print_words(report):
    for name in ("a", "b"):
        side = report[name]
        print(f"{name.upper()}  {side['median']:.3f} {report['metric']} rate, {side['misses']} misses, "
              f"{side['bytes_read'] / 1e9:.3f} GB at {side['read_bytes_per_s'] / 1e9:.2f} GB/s"
              f"{'' if side['direct'] else ', buffered'}  {side['command']}")
    if "ratio" in report:
        print(f"B / A  {report['ratio']:.4f}  [{report['interval'][0]:.4f}, {report['interval'][1]:.4f}], "
              f"wanted at least {report['at_least']}")
    print(report["verdict"] + (f": {report['reason']}" if "reason" in report else ""))


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="checkpoint folder")
    parser.add_argument("--a", required=True, help="program of side A")
    parser.add_argument("--b", help="program of side B; A's when absent")
    parser.add_argument("--options", default="", help="options of both sides, as one text")
    parser.add_argument("--options-a", default="", help="further options of side A")
    parser.add_argument("--options-b", default="", help="further options of side B")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--max-tokens", type=int, default=32)
    parser.add_argument("--metric", choices=sorted(METRICS), default="decode")
    parser.add_argument("--at-least", type=float, default=0.97, help="wanted B / A")
    parser.add_argument("--also-cold", action="append", default=[], metavar="DIR",
                        help="further folder to drop from the page cache (mirrors)")
    parser.add_argument("--different-work", action="store_true",
                        help="the sides' settings change misses and bytes by intent: only tokens must be equal")
    parser.add_argument("--report-only", action="store_true",
                        help="exit 0 whatever the speeds are; work that is not equal still fails")
    parser.add_argument("--json", action="store_true", help="the report as one JSON object")
    chosen = parser.parse_args(arguments)
    if chosen.rounds < 2 or chosen.max_tokens < 2:
        parser.error("--rounds and --max-tokens are at least 2")
    return chosen


def main(arguments=None):
    chosen = parse(arguments)
    try:
        with tempfile.TemporaryDirectory(prefix="colibri-bench-") as scratch:
            report, is_equal = compare(chosen, pathlib.Path(scratch))
    except (RunFailed, OSError) as error:
        print(f"streaming_protocol: {error}", file=sys.stderr)
        return 2
    if chosen.json:
        print(json.dumps(report))
    else:
        print_words(report)
    if chosen.report_only and is_equal:
        return 0
    return {"PASS": 0, "FAIL": 1, "INCONCLUSIVE": 3}[report["verdict"]]


if __name__ == "__main__":
    sys.exit(main())
