#pragma once
// Two sides of one figure, measured one after the other in rounds, so that what else goes on meets both.

#include "bench/io_bench.h"
#include "io/read_backend.h"
#include <colibri/engine.h>
#include <colibri/status.h>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace colibri {

struct Effort {
  int rounds = 8;
  double seconds = 0.4;  ///< of each window
};

[[nodiscard]] Effort effortOf(bool quick);
/// 0 without values.
[[nodiscard]] double median(std::vector<double> values);

/// How a run of the model opens its files.
[[nodiscard]] ReadOptions benchReadOptions(const EngineOptions& options, int queueDepth);

/// Why a measurement on these files says little, as a sentence that begins with `path`; empty when it does not.
[[nodiscard]] std::string warningOf(const std::filesystem::path& path, const std::vector<std::filesystem::path>& files);

/// A B A B: fills rounds, rate, ceiling and ratio. Each function measures one window. The first window of each also
/// pays for what is set up once, and does not count.
Status compare(const Effort& effort, ReadFigure& figure, const std::function<Result<double>()>& own,
               const std::function<Result<double>()>& ceiling);

}  // namespace colibri
