#include "cli/safetensors_writer.h"

#include "base/json.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

namespace colibri {
namespace {

std::string headerOf(std::span<const TensorToWrite> tensors) {
  OrderedJson entries = OrderedJson::object();
  std::uint64_t at = 0;
  for (const TensorToWrite& tensor : tensors) {
    entries[tensor.name] = {
        {"dtype", dtypeName(tensor.dtype)}, {"shape", tensor.shape}, {"data_offsets", {at, at + tensor.bytes}}};
    at += tensor.bytes;
  }
  std::string header = entries.dump();
  // Data then starts at a multiple of eight.
  header.append((8 - header.size() % 8) % 8, ' ');
  return header;
}

}  // namespace

Status writeSafetensors(const std::filesystem::path& path, std::span<const TensorToWrite> tensors) {
  std::filesystem::path partial = path;
  partial += ".partial";
  const auto problem = [&](const std::string& why) {
    std::error_code ignored;
    std::filesystem::remove(partial, ignored);
    std::string message = path.string();
    return Status(Code::kIo, "write_failed", message.append(" cannot be written: ").append(why).append("."));
  };
  std::ofstream file(partial, std::ios::binary | std::ios::trunc);
  if (!file) return problem(std::strerror(errno));
  const std::string header = headerOf(tensors);
  std::array<char, 8> length{};
  for (std::size_t i = 0; i < length.size(); ++i) length[i] = static_cast<char>((header.size() >> (8 * i)) & 0xff);
  file.write(length.data(), length.size());
  file.write(header.data(), static_cast<std::streamsize>(header.size()));
  for (const TensorToWrite& tensor : tensors) {
    tensor.write(file);
    if (!file) return problem(std::strerror(errno));
  }
  file.close();
  if (!file) return problem(std::strerror(errno));
  std::error_code error;
  std::filesystem::rename(partial, path, error);
  return error ? problem(error.message()) : Status::ok();
}

Status writeSafetensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors) {
  std::vector<TensorToWrite> writes;
  for (const NamedTensor& tensor : tensors) {
    writes.push_back({tensor.name, tensor.dtype, tensor.shape, tensor.data.size(), [&tensor](std::ostream& out) {
                        out.write(reinterpret_cast<const char*>(tensor.data.data()),
                                  static_cast<std::streamsize>(tensor.data.size()));
                      }});
  }
  return writeSafetensors(path, writes);
}

}  // namespace colibri
