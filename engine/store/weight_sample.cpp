#include "store/weight_sample.h"

#include "checkpoint/value_check.h"

#include <algorithm>
#include <cstdint>
#include <string>

namespace colibri {
namespace {

// All scales and norms of a released model are below the first figure; of the big matrices one byte in 16 is looked at.
constexpr std::uint64_t kWholeBytes = std::uint64_t{1} << 20;
constexpr std::uint64_t kBlockBytes = std::uint64_t{16} << 10;
constexpr std::uint64_t kStepBytes = 16 * kBlockBytes;

}  // namespace

Status checkWeightSample(const TensorInfo& tensor, const std::byte* data) {
  const std::uint64_t elementBytes = checkedElementBytes(tensor.dtype);
  if (elementBytes == 0 || tensor.bytes == 0) return Status::ok();
  const bool whole = tensor.bytes <= kWholeBytes;
  const std::uint64_t block = whole ? tensor.bytes : kBlockBytes;
  const std::uint64_t step = whole ? tensor.bytes : kStepBytes;
  // The bound of a routing table is the model's to know, hence none here.
  const auto checkAt = [&](std::uint64_t at) -> Status {
    const auto bad = firstBadElement(tensor.dtype, {data + at, std::min(block, tensor.bytes - at)}, 0);
    if (!bad) return Status::ok();
    return Status(Code::kCheckpoint, "bad_value",
                  "Tensor " + tensor.name + " (" + std::string(dtypeName(tensor.dtype)) +
                      ") holds no number at index " + std::to_string(at / elementBytes + *bad) +
                      ": the file is damaged. Run coli verify, then download the shard again.",
                  tensor.name);
  };
  for (std::uint64_t at = 0; at < tensor.bytes; at += step) COLIBRI_RETURN_IF_ERROR(checkAt(at));
  return checkAt(tensor.bytes - block);
}

}  // namespace colibri
