#pragma once
// Writing a safetensors file: header of 8 + N bytes, then the tensors without gaps, in the order given.

#include "checkpoint/tensor.h"
#include "session/teacher_forcing.h"
#include <colibri/status.h>

#include <filesystem>
#include <functional>
#include <ostream>
#include <span>
#include <string>
#include <vector>

namespace colibri {

/// One tensor to write; `write` puts exactly `bytes` bytes into the stream.
struct TensorToWrite {
  std::string name;
  Dtype dtype = Dtype::kF32;
  std::vector<std::uint64_t> shape;
  std::uint64_t bytes = 0;
  std::function<void(std::ostream&)> write;
};

/// By way of a temporary file beside `path`. kIo when it cannot be written.
Status writeSafetensors(const std::filesystem::path& path, std::span<const TensorToWrite> tensors);
Status writeSafetensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors);

}  // namespace colibri
