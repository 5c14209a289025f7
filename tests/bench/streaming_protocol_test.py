"""The protocol's own judgement: intervals, verdicts, and what counts as equal work; coli itself is played by a script."""

import contextlib
import importlib.util
import io
import json
import os
import pathlib
import tempfile
import unittest

SPEC = importlib.util.spec_from_file_location("protocol", pathlib.Path(__file__).with_name("streaming_protocol.py"))
protocol = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(protocol)

# Prints a done event whose figures come from its options; counts its runs in its data folder.
FAKE_COLI = """#!/usr/bin/env python3
import json, os, pathlib, sys
options = dict(zip(sys.argv[1:], sys.argv[2:]))
if "--fail" in sys.argv:
    sys.exit("out of luck")
counter = pathlib.Path(os.environ["COLIBRI_DATA_DIR"]) / "runs"
runs = int(counter.read_text()) + 1 if counter.exists() else 1
counter.write_text(str(runs))
assert json.loads(pathlib.Path(options["--tokens"]).read_text())
rate = float(options.get("--rate", 10))
misses = int(options.get("--misses", 5)) + (runs if "--grow" in sys.argv else 0)
print(json.dumps({"event": "token", "id": 1}))
print(json.dumps({"event": "done", "tokens": json.loads(options.get("--answer", "[1,2]")), "prompt_tokens": 8, "runs": runs,
  "timings": {"decode_tokens_per_s": rate, "prefill_s": 1, "first_token_s": 1},
  "experts": {"misses": misses, "bytes_read": misses * 4096, "read_bytes_per_s": 1e9, "disks": [{"direct": True}]}}))
"""


class Protocol(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.coli = pathlib.Path(self.folder.name) / "coli"
        self.coli.write_text(FAKE_COLI)
        self.coli.chmod(0o755)
        model = pathlib.Path(self.folder.name) / "model"
        model.mkdir()
        (model / "shard").write_bytes(os.urandom(100))
        self.model = str(model)

    def run_it(self, *options):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = protocol.main([self.model, "--a", str(self.coli), "--rounds", "3", "--json", *options])
        return code, json.loads(out.getvalue()) if out.getvalue() else None, err.getvalue()

    def test_equal_speed_passes_and_is_interleaved(self):
        code, report, log = self.run_it()
        self.assertEqual((code, report["verdict"]), (0, "PASS"))
        self.assertEqual([line.split()[2] for line in log.splitlines()], ["a:", "b:"] * 3)
        self.assertEqual(report["ratio"], 1)

    def test_a_slower_side_fails(self):
        code, report, _ = self.run_it("--options-b", "--rate 5")
        self.assertEqual((code, report["verdict"], report["ratio"]), (1, "FAIL", 0.5))
        code, report, _ = self.run_it("--options-b", "--rate 5", "--at-least", "0.5")
        self.assertEqual((code, report["verdict"]), (0, "PASS"))
        code, _, _ = self.run_it("--options-b", "--rate 5", "--report-only")
        self.assertEqual(code, 0)

    def test_work_must_be_equal(self):
        code, report, _ = self.run_it("--options-b", "--answer [1,3]", "--report-only")
        self.assertEqual((code, report["verdict"]), (1, "FAIL"))
        self.assertIn("tokens", report["reason"])
        self.assertNotIn("ratio", report)
        code, report, _ = self.run_it("--options-b", "--misses 6")
        self.assertEqual(code, 1)
        self.assertIn("misses", report["reason"])
        code, report, _ = self.run_it("--options-b", "--misses 6", "--different-work")
        self.assertEqual((code, report["verdict"]), (0, "PASS"))
        code, _, _ = self.run_it("--options-b", "--answer [1,3]", "--different-work")
        self.assertEqual(code, 1)

    def test_every_run_finds_the_same_remembered_data(self):
        code, report, _ = self.run_it("--options-a", "--grow x", "--different-work")
        self.assertEqual((code, report["a"]["misses"]), (0, 5 + 2), "each run is the second after the warm-up")

    def test_a_run_that_fails_is_no_verdict(self):
        code, report, log = self.run_it("--options-b", "--fail x")
        self.assertEqual((code, report), (2, None))
        self.assertIn("out of luck", log)

    def test_verdicts(self):
        self.assertEqual(protocol.verdict_of(0.98, 1.1, 0.97), "PASS")
        self.assertEqual(protocol.verdict_of(0.9, 0.96, 0.97), "FAIL")
        self.assertEqual(protocol.verdict_of(0.9, 1.1, 0.97), "INCONCLUSIVE")

    def test_the_interval_follows_the_spread(self):
        low, high = protocol.bootstrap([1.0, 1.01, 0.99, 1.0, 1.02, 0.98, 1.0])
        self.assertTrue(0.975 <= low <= 1 <= high <= 1.025, (low, high))
        low, high = protocol.bootstrap([0.5, 1.5, 0.6, 1.4, 1.0])
        self.assertLess(low, 0.7)
        self.assertGreater(high, 1.3)


if __name__ == "__main__":
    unittest.main()
