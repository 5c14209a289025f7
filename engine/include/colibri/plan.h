#pragma once
// What is planned before anything runs: memory by purpose, drives, and what speed that should give.

#include <colibri/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace colibri {

/// One part of the memory plan.
struct MemoryPart {
  MemoryTag tag = MemoryTag::kDense;
  std::uint64_t bytes = 0;
};

/// A folder that experts are read from, as the plan sees it.
struct PlannedDrive {
  std::filesystem::path path;
  std::string kind;           ///< "nvme", "ssd", "hdd", "network", "memory", "virtual" or "unknown"
  std::string device;         ///< block device, empty when there is none
  double bytesPerSecond = 0;  ///< at expert size; 0: unknown
  double iops4k = 0;          ///< random 4 KiB reads a second; 0: unknown
  int queueDepth = 0;         ///< 0: not measured
  double weight = 1;          ///< share of the reads relative to the other drives
  bool direct = true;
  std::string source;   ///< where the rate comes from: "measured …", "assumed for nvme", "probe file"
  std::string warning;  ///< empty when there is none
  bool isMirror = false;
};

/// What a plan or an engine says about the next turn before it runs. A range that must hold the measured figure.
struct Prediction {
  double decodeTokensPerSecond = 0;  ///< best single figure; 0: cannot be said
  double decodeLow = 0;
  double decodeHigh = 0;
  double firstTokenSeconds = 0;
  double firstTokenLow = 0;
  double firstTokenHigh = 0;
  double hitRate = 0;
  std::string boundBy;            ///< "disk", "memory" or "compute"
  std::int64_t promptTokens = 0;  ///< for which firstTokenSeconds holds
  std::string source;             ///< "assumed" or "this machine's own turns"
};

/// What was decided at load: the memory ledger's plan and the resolved numbers.
struct EnginePlan {
  std::uint64_t budgetBytes = 0;
  std::uint64_t usedBytes = 0;    ///< sum of parts, <= budgetBytes
  std::vector<MemoryPart> parts;  ///< every tag
  std::uint64_t expertSlots = 0;
  int threads = 0;
  int prefillChunk = 0;
  int prefillSegment = 0;
  int queueDepth = 0;
  std::string isa;
  std::string io;
  bool streamsDense = false;  ///< dense weights of the layers do not fit and are read for each pass
  std::vector<PlannedDrive> drives;
  Prediction prediction;
  std::vector<std::string> advice;  ///< one sentence each, most useful first
};

}  // namespace colibri
