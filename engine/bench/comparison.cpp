#include "bench/comparison.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>

namespace colibri {
namespace {

/// Below this a drive's own cache may answer.
constexpr std::uint64_t kSmallFiles = std::uint64_t{256} << 20;

}  // namespace

Effort effortOf(bool quick) {
  if (quick) return {1, 0.01};
  return {};
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

ReadOptions benchReadOptions(const EngineOptions& options, int queueDepth) {
  ReadOptions read;
  read.direct = options.direct;
  read.queueDepth = queueDepth;
  read.kind = options.io == IoChoice::kUring     ? IoKind::kUring
              : options.io == IoChoice::kThreads ? IoKind::kThreads
                                                 : IoKind::kAuto;
  return read;
}

std::string warningOf(const std::filesystem::path& path, const std::vector<std::filesystem::path>& files) {
  std::uint64_t bytes = 0;
  std::uint64_t allocated = 0;
  for (const std::filesystem::path& file : files) {
    struct stat info {};
    if (stat(file.c_str(), &info) != 0) continue;
    bytes += static_cast<std::uint64_t>(info.st_size);
    allocated += static_cast<std::uint64_t>(info.st_blocks) * 512;
  }
  const std::string name = path.string();
  if (allocated < bytes / 10 * 9) return name + ": the files have holes, which are read without touching the drive.";
  if (bytes < kSmallFiles) return name + ": the files are small; the drive's own cache may answer.";
  return {};
}

Status compare(const Effort& effort, ReadFigure& figure, const std::function<Result<double>()>& own,
               const std::function<Result<double>()>& ceiling) {
  std::vector<double> rates;
  std::vector<double> ceilings;
  std::vector<double> ratios;
  COLIBRI_RETURN_IF_ERROR(ceiling().status());
  COLIBRI_RETURN_IF_ERROR(own().status());
  for (int round = 0; round < effort.rounds; ++round) {
    COLIBRI_ASSIGN_OR_RETURN(const double most, ceiling());
    ceilings.push_back(most);
    COLIBRI_ASSIGN_OR_RETURN(const double rate, own());
    rates.push_back(rate);
    ratios.push_back(most > 0 ? rate / most : 0);
  }
  figure.rounds = effort.rounds;
  figure.rate = median(rates);
  figure.ceiling = median(ceilings);
  figure.ratio = median(ratios);
  return Status::ok();
}

}  // namespace colibri
