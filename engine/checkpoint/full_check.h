#pragma once
// Reads every byte of a checkpoint once: SHA-256 of each file and impossible values.

#include "checkpoint/finding_reporter.h"
#include "checkpoint/shard_set.h"
#include "checkpoint/tensor.h"
#include <colibri/checkpoint.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace colibri {

/// One file to read. `tensors` are checked for impossible values; they are sorted by offset.
struct FullCheckFile {
  std::string name;
  std::filesystem::path path;
  std::vector<const TensorInfo*> tensors;
};

/// Reads `files` with at most two threads. `expertCounts[layer]` bounds the routing tables (empty: no bound). Fills
/// `hashes`. kCancelled when cancelled; everything else is a finding.
Status checkFully(const std::vector<FullCheckFile>& files, const std::vector<int>& expertCounts,
                  const VerifyOptions& options, FindingReporter& reporter, std::map<std::string, std::string>& hashes);

}  // namespace colibri
