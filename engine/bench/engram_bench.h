#pragma once
// `coli bench --engram`: rows of n-gram tables through the engine's own store, beside what a bare loop of 4 KiB reads
// gets from the same files.

#include "bench/io_bench.h"
#include <colibri/cancellation.h>
#include <colibri/status.h>

#include <string>
#include <vector>

namespace colibri {

struct EngramFigure {
  int layer = 0;
  ReadFigure reads;          ///< path: folder of the table's files; rate and ceiling: reads a second
  double rowsPerSecond = 0;  ///< median
};

struct EngramBenchReport {
  std::vector<EngramFigure> tables;
  std::vector<std::string> notices;  ///< files that are sparse or small
};

/// Random rows of each table, cold: the cache is far smaller than the table, and rows are asked for ahead as in a
/// prompt. Reads headers, then measures for about seven seconds a table. kUnavailable "no_engram" for a model without
/// tables; errors as Engine::open for what it opens, kCancelled.
Result<EngramBenchReport> benchEngram(const IoBenchOptions& options, const Cancellation& cancellation);

}  // namespace colibri
