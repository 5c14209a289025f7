#!/usr/bin/env python3
"""Shows that the tests notice when the engine computes something else.

Makes one-line changes to a copy of the source tree, one at a time, builds the test programs that should notice and runs
them. A change that no test notices "survives" and is a missing test. The working tree is never touched. With --beside the copy is
left out: each changed file is compiled alone and linked in place of its twin in a finished build of this tree.

    tools/mutation_check.py                      all mutations
    tools/mutation_check.py --sample 12 --seed 3 a random dozen
    tools/mutation_check.py --only top_k         those whose name contains the text
    tools/mutation_check.py --beside build/release   quicker, when that build and its tests are up to date
    tools/mutation_check.py --list               what there is; also checks that every line is still found

Exit code: 0 all noticed, 1 one survived, 2 nothing could be shown (a line is not found exactly once, a mutation does not
compile, or a test fails without any).
"""

import argparse
import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
LEFT_OUT = {".git", ".cache", "__pycache__", "app", "qml"}   # and build folders: the copy builds the engine alone

FP32 = "model:*Fp32*"
VENDOR = "model:*Sublayer*:*Vendor*"
GOLDEN_KERNELS = "kernels:*Golden*"
V41 = "model:*GoldenV41*"
IMAGES = "model:Images*"
SESSIONS = "property:*SessionState*:*Generation*"


class Mutation(NamedTuple):
    name: str
    file: str        # below the root
    old: str         # stands there exactly once
    new: str
    why: str         # what it breaks
    tests: tuple     # programs with a filter, tried in this order until one fails


def m(name, file, old, new, why, *tests):
    return Mutation(name, "engine/" + file, old, new, why, tests)


MUTATIONS = [
    # Model
    m("q_norm_weight", "model/attention.cpp", "rmsNorm(q, weights.qNorm.data(), q,", "rmsNorm(q, nullptr, q,",
      "the query norm loses its weight", FP32),
    m("inverse_rope", "model/attention.cpp", "rotate(model, spec.rope, row, o, c.headDim, true)",
      "rotate(model, spec.rope, row, o, c.headDim, false)", "the output is rotated on instead of back", FP32),
    m("window_off_by_one", "model/attention.cpp", "position - c.slidingWindow + 1)", "position - c.slidingWindow + 2)",
      "the window is one position short", FP32),
    m("window_slot", "model/attention.cpp", "float* slot = ring + static_cast<std::ptrdiff_t>(position %",
      "float* slot = ring + static_cast<std::ptrdiff_t>((position + 1) %", "keys are kept in the neighbour's place of the ring", FP32),
    m("visible_block", "model/attention.cpp", "(position + 1) / m_spec.ratio", "position / m_spec.ratio",
      "a finished ratio-128 block is seen one token late", FP32),
    m("sink_of_head", "model/attention.cpp", "weights.attnSink + head", "weights.attnSink",
      "all heads share the first one's sink", FP32),
    m("window_grid", "model/attention.cpp", "qdqE4m3(kv, kv, c.headDim - c.ropeDim, 64)", "qdqE4m3(kv, kv, 0, 64)",
      "window keys are not put on the e4m3 grid", VENDOR),
    m("overlap_halves", "model/compressor.cpp", "c.spec.overlap && i >= c.spec.ratio", "c.spec.overlap && i < c.spec.ratio",
      "the two halves of an overlapping entry are swapped", FP32),
    m("compressor_bias", "model/compressor.cpp", "static_cast<std::ptrdiff_t>(position % c.spec.ratio) * wide, scores",
      "static_cast<std::ptrdiff_t>(0) * wide, scores", "every row gets the first row's position bias", FP32),
    m("entry_position", "model/compressor.cpp", "blockOf(row) * spec.ratio, entry", "blockOf(row) * spec.ratio + 1, entry",
      "compressed entries stand one position late", FP32),
    m("indexer_hadamard", "model/indexer.cpp", "model.kernels.hadamard(q, c.indexHeadDim);", "",
      "indexer queries are not rotated as their keys are", FP32),
    m("indexer_last_block", "model/indexer.cpp", "first < visible; first += kScoreBlock",
      "first < visible - 1; first += kScoreBlock", "the newest block can never be chosen", FP32),
    m("published_keys", "model/indexer.cpp", "return publisher < 0 ? spec.kvSource : publisher;",
      "return publisher < 0 ? 0 : spec.kvSource;",
      "the published index-key slot is ignored", V41),
    m("publishing_order", "model/layer_plan.cpp", "for (int source = layer; source >= 0; --source) {",
      "for (int source = layer - 1; source >= 0; --source) {", "a layer does not see its own publication", V41),
    m("candidate_newest", "model/indexer.cpp", "block == m_last ? std::numeric_limits<float>::infinity() : m_highest",
      "m_highest", "the newest block of entries need not be a candidate", V41),
    m("restricted_choice", "model/indexer.cpp", "spec.candidates == CandidateRole::kRestricted &&",
      "spec.candidates == CandidateRole::kNone &&", "the second level chooses among all entries", V41),
    m("lagged_mix", "model/hyper_connection.cpp", "std::copy_n(pre, m, carried);", "",
      "every sublayer collapses by the first stream", V41),
    m("ngram_block", "model/engram_hash.cpp", "isBlocked = isBlocked ||", "isBlocked =",
      "n-grams go on behind an image", "model:EngramHash*"),
    m("image_bias", "model/router.cpp", "image ? weights.gateImageBias : weights.gateBias",
      "image ? weights.gateBias : weights.gateBias",
      "image positions are routed as text", IMAGES),
    m("image_ngrams", "model/engram.cpp", "if (!pass.isImage(row)) taking", "taking", "n-grams are mixed into images",
      IMAGES),
    m("prompt_reach", "model/layer_plan.cpp", "slidingWindow + (above - 1)", "slidingWindow - 1 + (above - 1)",
      "a prompt's end looks one position less far back", "model:LayerPlan*", "property:*PromptEnd*"),
    m("incomplete_state", "session/session_core.cpp", "return end - position >= m_engine->transformer().promptReach();",
      "return true;", "a cancelled prompt goes on where windows are missing", "property:*PromptEnd*"),
    m("journal_ring", "model/attention.cpp", "journal.save(position, slot, static_cast<std::size_t>(c.headDim));",
      "journal.save(position, slot, 0);",
      "a rejected token's key stays in the ring", "property:*Rollback*"),
    m("journal_group", "model/compressor.cpp", "journal.save(position, c.state.scores + at, wide);", "",
      "a rejected token stays in an open group", "property:*Rollback*"),
    m("generated_keys", "session/session_core.cpp", "common = std::min(common, static_cast<std::int64_t>(divergent));",
      "common = std::min(common, static_cast<std::int64_t>(divergent) + 1000000);",
      "answers are reused where a prompt reads other keys", "property:GeneratedPrefix*"),
    m("image_identity", "session/session_core.cpp", "a.first == b.first && a.image->id == b.image->id",
      "a.first == b.first", "a session takes one picture for another", IMAGES),
    m("converted_weights", "store/dense_streaming.cpp", "&& !want.converted &&", "&&",
      "weights that are converted at load are streamed", "store:StreamsWhenShort*"),
    m("router_bias", "model/router.cpp", "topK(biased, experts, k, ids)", "topK(scores, experts, k, ids)",
      "the bias does not choose experts", FP32),
    m("routed_scale", "model/router.cpp", " * static_cast<float>(c.routedScale)", "",
      "the routed experts' scale is dropped", FP32),
    m("shared_expert", "model/moe.cpp", "model.kernels.add(y, sum, d);", "", "the shared expert is dropped", FP32),
    m("expert_weight", "model/moe.cpp", "w.routerWeights[rows[i].row * k + rows[i].choice]",
      "w.routerWeights[rows[i].row * k]", "every expert gets the first one's weight", FP32),
    m("hyper_norm", "model/hyper_connection.cpp", "for (int i = 0; i < mixes; ++i) u[i] *= inverse;",
      "for (int i = 0; i < mixes; ++i) u[i] *= inverse > 0 ? 1.0F : inverse;",
      "the hyper-connection's mixes are not normed", FP32),
    m("final_norm", "model/transformer.cpp", "normRows(m_model, 1, m_model.weights.norm);", "",
      "the last norm is dropped", FP32),
    m("rope_kind", "model/layer_plan.cpp", "spec.ratio == 0 ? RopeKind::kPlain", "spec.ratio != 0 ? RopeKind::kPlain",
      "layers use each other's rotary base", FP32),
    m("no_first_block", "model/state.cpp", "-std::numeric_limits<float>::infinity()", "0.0F",
      "a block before the first token is pooled", FP32),
    # Kernels
    m("hc_axes", "kernels/lanes/hyper.h", "broadcast(comb[4 * j + k])", "broadcast(comb[4 * k + j])",
      "the axes of the hyper-connection's matrix are swapped", GOLDEN_KERNELS),
    m("swiglu_clamp", "kernels/lanes/gates.h", "g = minimum(broadcast(limit), g);", "",
      "the gate's clamp is dropped", GOLDEN_KERNELS),
    m("attention_sink", "kernels/lanes/attention.h", "total = total + exponential(sinks[h] - largest);",
      "total = total + 0.0F * sinks[h];", "the attention sink is dropped", GOLDEN_KERNELS),
    m("e4m3_scale_edge", "kernels/lanes/quantize.h", "> 0x600000 ? 1 : 0", ">= 0x600000 ? 1 : 0",
      "448 times a power of two gets the next scale", "kernels"),
    m("bf16_ties", "kernels/lanes/functions.h", "bits + broadcastInt(0x7fff) + odd",
      "bits + broadcastInt(0x8000) + (odd & broadcastInt(0))", "bf16 ties round up instead of to even", "kernels"),
    m("fp4_offset", "kernels/lanes/quantize.h", "out.offset[lane] = -12 * sum", "out.offset[lane] = -11 * sum",
      "the fp4 codes' offset is taken back wrongly", "kernels"),
    m("linear_tail", "kernels/lanes/linear.h", "const int count = k - whole;", "const int count = (k - whole) / 2;",
      "inputs behind the last whole vector are dropped", "kernels"),
    m("lane_order", "kernels/avx512/vector.h", "_mm_add_ps(four, _mm_movehl_ps(four, four))",
      "_mm_add_ps(four, _mm_permute_ps(four, 0xb1))", "one instruction set sums its lanes in another order", "kernels"),
    m("top_k_ties", "kernels/top_k.cpp", "values[a] == values[b] && a < b", "values[a] == values[b] && a > b",
      "of equal values the later one is better", "kernels", FP32),
    m("yarn_ramp", "kernels/rope_tables.cpp", "std::ceil(correction(parameters.betaSlow))",
      "std::floor(correction(parameters.betaSlow))", "the YaRN ramp ends one pair early", "kernels", FP32),
    # Text
    m("bpe_order", "text/bpe.cpp", "const auto byRank = std::greater<>();", "const auto byRank = std::less<>();",
      "the worst merge is made first", "text:*Golden*"),
    m("utf8_hold_back", "text/detokenizer.cpp", "/*holdIncomplete=*/true", "/*holdIncomplete=*/false",
      "half a character is shown as a replacement mark", "text"),
    m("tool_call_break", "text/completion_parser.cpp", "(call || phase == Phase::kCallTag ||",
      "(call || phase != Phase::kCallTag ||", "a finished tool call counts as cut off", "property:CutCompletion*"),
    # Store
    m("slot_pin", "store/expert_store_state.cpp", "++slot.pins;", "", "a hit does not protect its slot", "store:*ExpertStore*"),
    m("expert_start", "store/expert_store_state.cpp", "window + (extent.offset - start) + place.parts[p].offset",
      "window + place.parts[p].offset", "experts that do not begin at a block are read shifted", "store:*ExpertStore*"),
    m("kept_slot", "store/expert_store_state.cpp", "ReadPriority::kDemand ? !isKept(slot)", "ReadPriority::kDemand ? true",
      "what is certain to be needed is given up like anything else", "store:*Prefetch*"),
    m("ahead_is_a_miss", "store/expert_store_state.cpp", "  countMiss(flatIndex(slot.layer, slot.expert), layout.place(slot.layer, slot.expert));\n",
      "", "an expert that was read ahead counts as no miss", "store:*Prefetch*"),
    # Drives
    m("failed_mirror", "io/piece_queue.cpp", "m_faulty[drive] = true;", "", "a mirror that failed is read on", "io:*SeveralDrives*"),
    m("retry_copy", "io/piece_queue.cpp", "m_retries.back().tried = tried;", "", "a failed piece may go to the same copy again",
      "io:*PieceChoice*"),
    m("drive_share", "io/piece_queue.cpp", "drive.shareSoFar() >= best->shareSoFar()", "false",
      "equally loaded drives do not take turns", "session:Streaming.EqualReplicas*"),
    m("lookahead_rows", "model/expert_lookahead.cpp", "*(m_tokens.begin() + m_first + row)",
      "*(m_tokens.begin() + m_first)", "only the first row's experts are read ahead",
      "session:Streaming.ExpertsOfHash*"),
    # Checkpoint
    m("overlap_check", "checkpoint/header_reader.cpp", "if (tensor.offset < at) {", "if (tensor.offset + 1 < at) {",
      "an overlap of one byte is accepted", "checkpoint"),
    # Session
    m("stale_snapshot", "session/session_core.cpp", "snapshot.position > limit ||",
      "snapshot.position > limit + 1 ||", "a state of other tokens is reused", SESSIONS),
    m("torn_state", "session/session_core.cpp", "      recover();\n", "", "a session goes on from half a pass", SESSIONS),
    m("sampler_ties", "session/sampler.cpp", "logits[i] > logits[static_cast<std::size_t>(id)]",
      "logits[i] >= logits[static_cast<std::size_t>(id)]", "of equal logits the later token wins", "session:*Sampler*"),
    m("random_position", "session/sampler.cpp", "counterUniform(sampling.seed, position)",
      "counterUniform(sampling.seed, position / 2)", "two positions share a random number", "property:GenerationNumber*"),
]


class Broken(Exception):
    """Nothing can be shown; the text says why."""


def check_texts(mutations):
    wrong = []
    for mutation in mutations:
        path = ROOT / mutation.file
        count = path.read_text().count(mutation.old) if path.is_file() else 0
        if count != 1:
            wrong.append(f"{mutation.name}: {mutation.file} has {count} times: {mutation.old.strip()}")
    if wrong:
        raise Broken("These lines are not found exactly once; bring the list up to date:\n  " + "\n  ".join(wrong))


def copy_tree(target):
    """Brings the copy up to date; files that did not change keep their time, so that little is built again."""
    wanted = set()
    for folder, folders, files in os.walk(ROOT):
        relative = Path(folder).relative_to(ROOT)
        folders[:] = [f for f in folders if f not in LEFT_OUT and not (relative == Path(".") and f.startswith("build"))]
        for name in files:
            source = Path(folder) / name
            copy = target / relative / name
            wanted.add(copy)
            if copy.is_file() and copy.read_bytes() == source.read_bytes():
                continue
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, copy)
            shutil.copymode(source, copy)
    for copy in [path for path in target.rglob("*") if path.is_file() and path not in wanted]:
        copy.unlink()


class Bench:
    """A copy of the tree with a build of its own."""

    def __init__(self, work, jobs):
        self.tree = work / "tree"
        self.build = work / "build"
        self.jobs = jobs
        self.limits = {}

    def configure(self):
        copy_tree(self.tree)
        command = ["cmake", "-S", self.tree, "-B", self.build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                   "-DCOLIBRI_APP=OFF", "-DCOLIBRI_BENCH=OFF"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise Broken("The copy cannot be configured:\n" + done.stdout + done.stderr)

    def prepare(self, mutations):
        self.configure()
        tests = sorted({test for mutation in mutations for test in mutation.tests})
        say("building the test programs")
        output = self.make(tests)
        if output is not None:
            raise Broken("The tests do not build without a mutation:\n" + output)

    def check(self, test):
        """The test passes without a mutation; its time then bounds that of the mutated one."""
        if test in self.limits:
            return
        output = self.make([test])
        if output is not None:
            raise Broken("The tests do not build without a mutation:\n" + output)
        started = time.monotonic()
        verdict = self.run(test, 900)
        if verdict is not None:
            raise Broken(f"{test} fails without a mutation ({verdict}), so it can show nothing.")
        self.limits[test] = 60 + 10 * (time.monotonic() - started)
        say(f"without a mutation {test} passes in {time.monotonic() - started:.1f} s")

    def make(self, tests):
        """Builds the programs; None, or what the compiler said."""
        targets = sorted({"test_" + test.partition(":")[0] for test in tests})
        done = subprocess.run(["cmake", "--build", self.build, "-j", str(self.jobs), "--target", *targets],
                              capture_output=True, text=True)
        return None if done.returncode == 0 else done.stdout[-4000:] + done.stderr[-2000:]

    def program(self, name):
        return next(path for path in self.build.glob(f"tests/**/test_{name}") if path.is_file())

    def run(self, test, limit):
        """None when everything passes; else the first failure in a few words."""
        program, _, tests = test.partition(":")
        path = self.program(program)
        command = [path, "--gtest_fail_fast", "--gtest_brief=1"] + ([f"--gtest_filter={tests}"] if tests else [])
        try:
            done = subprocess.run(command, cwd=self.build, capture_output=True, text=True, errors="replace",
                                  timeout=limit, env=os.environ | {"OMP_WAIT_POLICY": "passive"})
        except subprocess.TimeoutExpired:
            return f"{program} does not end"
        if done.returncode == 0:
            return None
        failed = [line for line in done.stdout.splitlines() if line.startswith("[  FAILED  ]") and "tests" not in line]
        if failed:
            return failed[0].removeprefix("[  FAILED  ] ").split(",")[0].split(" (")[0]
        return f"{program} ends with {done.returncode}"

    def try_out(self, mutation):
        """(what noticed it, or None; seconds)"""
        for test in mutation.tests:
            self.check(test)
        started = time.monotonic()
        self.change(mutation)
        try:
            for test in mutation.tests:
                output = self.make([test])
                if output is not None:
                    raise Broken(f"{mutation.name} does not compile, so it shows nothing:\n{output}")
                verdict = self.run(test, self.limits[test])
                if verdict is not None:
                    return verdict, time.monotonic() - started
            return None, time.monotonic() - started
        finally:
            self.restore(mutation)

    def change(self, mutation):
        path = self.tree / mutation.file
        self.original = path.read_text()
        path.write_text(self.original.replace(mutation.old, mutation.new))

    def restore(self, mutation):
        (self.tree / mutation.file).write_text(self.original)


class Beside(Bench):
    """Changed files alone, linked before the libraries of a finished build, so that their twins there are not taken."""

    def __init__(self, work, jobs, build):
        super().__init__(work, jobs)
        self.build = build
        self.overlay = work / "overlay"
        self.objects = work / "objects"
        self.changed = None

    def ninja(self, *arguments):
        done = subprocess.run(["ninja", "-C", self.build, *arguments], capture_output=True, text=True)
        if done.returncode != 0:
            raise Broken(f"{self.build} is no finished build with Ninja:\n{done.stdout}{done.stderr}")
        return done.stdout

    def configure(self):
        self.commands = {}
        for entry in json.loads((self.build / "compile_commands.json").read_text()):
            output = re.search(r" -o (\S+)", entry["command"]).group(1)
            self.commands[output] = (Path(entry["file"]), entry["command"])
        self.users = {}   # file: objects that are made from it
        for line in self.ninja("-t", "deps").splitlines():
            if not line.startswith(" "):
                user = line.partition(":")[0]
            elif line.strip():
                self.users.setdefault((self.build / line.strip()).resolve(), []).append(user)

    def change(self, mutation):
        self.changed = mutation
        path = self.overlay / Path(mutation.file).relative_to("engine")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text((ROOT / mutation.file).read_text().replace(mutation.old, mutation.new))
        self.compiled = None

    def restore(self, mutation):
        shutil.rmtree(self.overlay)
        self.changed = None

    def make(self, tests):
        if self.changed is None:
            return None
        if self.compiled is None:
            shutil.rmtree(self.objects, ignore_errors=True)
            self.objects.mkdir(parents=True)
            users = [user for user in self.users.get(ROOT / self.changed.file, []) if user in self.commands]
            made = [self.objects / f"{i}.o" for i in range(len(users))]
            with ThreadPoolExecutor(self.jobs) as pool:
                failed = [output for output in pool.map(self.compile, users, made) if output]
            if failed:
                return failed[0]
            self.compiled = dict(zip(users, made))
        return self.link(tests[0].partition(":")[0])

    def compile(self, user, target):
        source, command = self.commands[user]
        if source == ROOT / self.changed.file:
            command = command.replace(str(source), str(self.overlay / Path(self.changed.file).relative_to("engine")))
        command = command.replace(f" -o {user}", f" -o {shlex.quote(str(target))}")
        command = command.replace(" -I", f" -I{shlex.quote(str(self.overlay))} -I", 1)
        done = subprocess.run(command, shell=True, cwd=self.build, capture_output=True, text=True)
        return None if done.returncode == 0 else done.stderr[-4000:]

    def link(self, name):
        program = super().program(name).relative_to(self.build)
        command = self.ninja("-t", "commands", "-s", str(program)).splitlines()[-1]
        command = next(part for part in command.split("&&") if " -o " in part)
        extra = ""
        for user, target in self.compiled.items():
            if f" {user} " in command:
                command = command.replace(f" {user} ", f" {target} ")
            elif not user.startswith("tests/"):
                extra += f" {shlex.quote(str(target))}"
        command = re.sub(r" -o \S+", lambda _: f"{extra} -o {shlex.quote(str(self.program(name)))}", command, count=1)
        done = subprocess.run(command, shell=True, cwd=self.build, capture_output=True, text=True)
        return None if done.returncode == 0 else done.stderr[-4000:]

    def program(self, name):
        return super().program(name) if self.changed is None else self.objects / f"test_{name}"


def say(text):
    print(text, file=sys.stderr, flush=True)


def table(results):
    rows = ["| mutation | file | what it breaks | noticed by |", "|---|---|---|---|"]
    for mutation, verdict, _ in results:
        rows.append(f"| `{mutation.name}` | `{mutation.file}` | {mutation.why} | " +
                    (f"`{verdict}`" if verdict else "**nothing**") + " |")
    return "\n".join(rows)


def choose(options):
    mutations = [mutation for mutation in MUTATIONS if options.only in mutation.name]
    if options.sample and options.sample < len(mutations):
        kept = set(random.Random(options.seed).sample(range(len(mutations)), options.sample))
        mutations = [mutation for i, mutation in enumerate(mutations) if i in kept]
    return mutations


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="only N of them, chosen at random")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the choice (default 1)")
    parser.add_argument("--only", default="", metavar="TEXT", help="those whose name contains TEXT")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N", help="compilers at once")
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "mutation", metavar="DIR",
                        help="folder of the copy and its build (default build/mutation)")
    parser.add_argument("--beside", type=Path, metavar="BUILD", help="use a finished build of this tree, see above")
    parser.add_argument("--list", action="store_true", help="only show what there is")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    try:
        check_texts(MUTATIONS)
        mutations = choose(options)
        if not mutations:
            raise Broken(f"No mutation is called like {options.only}.")
        if options.list:
            for mutation in mutations:
                print(f"{mutation.name:20} {mutation.file:34} {mutation.why}")
            return 0
        work = options.work.resolve()
        bench = Beside(work, options.jobs, options.beside.resolve()) if options.beside else Bench(work, options.jobs)
        bench.prepare(mutations)
        results = []
        broken = 0
        for i, mutation in enumerate(mutations, 1):
            try:
                verdict, seconds = bench.try_out(mutation)
            except Broken as reason:
                broken += 1
                say(f"{i}/{len(mutations)} {mutation.name}: nothing shown. {reason}")
                continue
            results.append((mutation, verdict, seconds))
            say(f"{i}/{len(mutations)} {mutation.name}: {verdict or 'SURVIVED'} ({seconds:.0f} s)")
    except Broken as reason:
        say(str(reason))
        return 2
    survived = [mutation.name for mutation, verdict, _ in results if verdict is None]
    if options.json:
        print(json.dumps({"mutations": [{"name": x.name, "file": x.file, "why": x.why, "noticed_by": verdict,
                                         "seconds": round(seconds, 1)} for x, verdict, seconds in results],
                          "survived": survived, "not_shown": broken}, indent=1))
    else:
        print(table(results))
        print(f"\n{len(results) - len(survived)} of {len(results)} noticed" +
              (f"; {broken} could not be tried." if broken else "."))
    return 1 if survived else 2 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
