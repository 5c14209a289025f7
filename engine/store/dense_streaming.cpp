#include "store/dense_streaming.h"

#include "store/weight_sample.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace colibri {
namespace {

constexpr std::chrono::milliseconds kCancelCheck{50};
constexpr std::size_t kCompletionsAtOnce = 16;
constexpr std::uint64_t kPieceBits = 32;
// More layers than any model has; a number from a file must not decide how much is allocated.
constexpr int kMostLayers = 1 << 12;

/// Number of the decoder layer that a tensor belongs to ("layers.7.attn.wq_a.weight").
std::optional<int> layerOf(std::string_view name) {
  constexpr std::string_view kPrefix = "layers.";
  if (name.substr(0, kPrefix.size()) != kPrefix) return std::nullopt;
  const char* const end = name.data() + name.size();
  int layer = 0;
  const auto [rest, error] = std::from_chars(name.data() + kPrefix.size(), end, layer);
  if (error != std::errc() || rest == end || *rest != '.' || layer < 0 || layer >= kMostLayers) return std::nullopt;
  return layer;
}

/// Bytes of a window that a tensor takes: the blocks that it touches.
std::uint64_t blockBytes(const TensorInfo& tensor) {
  return alignUp(tensor.offset + tensor.bytes) - alignDown(tensor.offset);
}

}  // namespace

bool streamsWhenShort(const DenseStore::Want& want, std::uint64_t threshold) {
  const TensorInfo& tensor = *want.tensor;
  // Routers are asked before their layer is there, for guesses about which experts it will need.
  return tensor.bytes >= threshold && tensor.bytes > 0 && tensor.shape.size() == 2 && !want.converted &&
         !tensor.name.ends_with(".ffn.gate.weight") && layerOf(tensor.name).has_value();
}

std::uint64_t streamingWindowBytes(std::span<const DenseStore::Want> wants, std::uint64_t threshold) {
  std::vector<std::uint64_t> layers;
  for (const DenseStore::Want& want : wants) {
    if (!streamsWhenShort(want, threshold)) continue;
    const auto layer = static_cast<std::size_t>(layerOf(want.tensor->name).value_or(0));
    if (layer >= layers.size()) layers.resize(layer + 1);
    layers[layer] += blockBytes(*want.tensor);
  }
  std::array<std::uint64_t, kStreamingWindows> windows{};
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    std::uint64_t& window = windows[layer % kStreamingWindows];
    window = std::max(window, layers[layer]);
  }
  return windows[0] + windows[1];
}

Result<std::unique_ptr<DenseStream>> DenseStream::create(std::span<const DenseStore::Want> streamed,
                                                         std::unique_ptr<ReadBackend> backend,
                                                         std::shared_ptr<Ledger> ledger) {
  std::unique_ptr<DenseStream> stream(new DenseStream());
  std::vector<DenseStore::Want> sorted(streamed.begin(), streamed.end());
  std::sort(sorted.begin(), sorted.end(), [](const DenseStore::Want& a, const DenseStore::Want& b) {
    return std::pair(a.tensor->shard, a.tensor->offset) < std::pair(b.tensor->shard, b.tensor->offset);
  });
  std::vector<std::uint64_t> layerBytes;
  for (const DenseStore::Want& want : sorted) {
    const std::optional<int> number = layerOf(want.tensor->name);
    if (!number) {
      return Status(Code::kInternal, "no_such_layer", "Tensor " + want.tensor->name + " belongs to no layer.");
    }
    const auto layer = static_cast<std::size_t>(*number);
    if (layer >= stream->m_layers.size()) {
      stream->m_layers.resize(layer + 1);
      layerBytes.resize(layer + 1);
    }
    stream->m_layers[layer].pieces.push_back({*want.tensor, layerBytes[layer], nullptr});
    layerBytes[layer] += blockBytes(*want.tensor);
  }
  std::array<std::uint64_t, kStreamingWindows> bytes{};
  for (std::size_t layer = 0; layer < layerBytes.size(); ++layer) {
    std::uint64_t& window = bytes[layer % kStreamingWindows];
    window = std::max(window, layerBytes[layer]);
  }
  COLIBRI_ASSIGN_OR_RETURN(stream->m_memory,
                           Buffer::allocateUntouched(bytes[0] + bytes[1], MemoryTag::kDense, std::move(ledger)));
  stream->m_windows[0].data = stream->m_memory.data();
  stream->m_windows[1].data = stream->m_memory.data() + bytes[0];
  for (std::size_t layer = 0; layer < stream->m_layers.size(); ++layer) {
    std::byte* const window = stream->m_windows[layer % kStreamingWindows].data;
    for (Piece& piece : stream->m_layers[layer].pieces) {
      const std::uint64_t start = piece.tensor.offset - alignDown(piece.tensor.offset);
      // An element that lies askew in the file is moved down to where it may be read.
      const std::uint64_t element = std::max<std::uint64_t>(dtypeBits(piece.tensor.dtype) / 8, 1);
      piece.place = window + piece.windowOffset + start / element * element;
    }
  }
  stream->m_backend = std::move(backend);
  return stream;
}

bool DenseStream::holds(int layer) {
  const Window& window = windowOf(layer);
  return window.state == WindowState::kReady && window.layer == layer;
}

void DenseStream::startReading(int layer) {
  const auto number = static_cast<std::size_t>(layer) % kStreamingWindows;
  Window& window = m_windows[number];
  const std::vector<Piece>& pieces = m_layers[static_cast<std::size_t>(layer)].pieces;
  window.layer = layer;
  window.failure = Status::ok();
  window.state = WindowState::kReady;
  if (pieces.empty()) return;
  m_requests.clear();
  std::uint64_t asked = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const TensorInfo& tensor = pieces[i].tensor;
    const std::uint64_t start = alignDown(tensor.offset);
    m_requests.push_back({tensor.shard, start, blockBytes(tensor), tensor.offset + tensor.bytes - start,
                          window.data + pieces[i].windowOffset, std::uint64_t{number} << kPieceBits | i});
    asked += blockBytes(tensor);
  }
  window.failure = m_backend->submit(m_requests);
  if (!window.failure.isOk()) {
    window.state = WindowState::kEmpty;
    return;
  }
  window.state = WindowState::kReading;
  window.readsLeft = pieces.size();
  m_bytesRead.fetch_add(asked, std::memory_order_relaxed);
}

void DenseStream::readAhead(int layer) {
  Window& window = windowOf(layer);
  if (m_present >= 0 && m_present != layer && &window == &windowOf(m_present)) return;  // in use until release()
  if (window.state != WindowState::kReading && !holds(layer)) startReading(layer);
}

void DenseStream::takeCompletions() {
  std::array<ReadCompletion, kCompletionsAtOnce> completions;
  std::size_t count = completions.size();
  while (count == completions.size()) {
    count = m_backend->poll(completions, false);
    for (std::size_t i = 0; i < count; ++i) endRead(completions[i]);
  }
}

void DenseStream::endRead(const ReadCompletion& completion) {
  Window& window = m_windows[completion.tag >> kPieceBits];
  const Piece& piece =
      m_layers[static_cast<std::size_t>(window.layer)].pieces[completion.tag & ((std::uint64_t{1} << kPieceBits) - 1)];
  const TensorInfo& tensor = piece.tensor;
  const std::uint64_t skipped = tensor.offset - alignDown(tensor.offset);
  if (!completion.status.isOk()) {
    if (window.failure.isOk()) window.failure = completion.status;
  } else if (completion.bytes < skipped + tensor.bytes) {
    window.failure = Status(Code::kIo, "short_read",
                            "A read brought " + std::to_string(completion.bytes) + " of " +
                                std::to_string(skipped + tensor.bytes) + " bytes. Check the drive, then try again.",
                            {}, true);
  } else {
    const std::byte* landed = window.data + piece.windowOffset + skipped;
    if (landed != piece.place) std::memmove(piece.place, landed, tensor.bytes);
  }
  if (--window.readsLeft == 0) finish(window);
}

void DenseStream::finish(Window& window) {
  Layer& layer = m_layers[static_cast<std::size_t>(window.layer)];
  if (!layer.checked && window.failure.isOk()) {
    for (const Piece& piece : layer.pieces) {
      window.failure = checkWeightSample(piece.tensor, piece.place);
      if (!window.failure.isOk()) break;
    }
    layer.checked = window.failure.isOk();
  }
  window.state = window.failure.isOk() ? WindowState::kReady : WindowState::kEmpty;
}

// Brings the layer into its window, behind whatever is still on its way there.
Status DenseStream::settle(int layer, const Cancellation& cancellation) {
  Window& window = windowOf(layer);
  bool asked = false;
  takeCompletions();
  while (!holds(layer)) {
    if (window.state != WindowState::kReading) {
      if (asked) return window.failure.within("Layer " + std::to_string(layer));
      startReading(layer);
      asked = true;
      continue;
    }
    if (cancellation.isCancelled()) return Status(Code::kCancelled, "cancelled", "Stopped.");
    (void)m_backend->waitReady(kCancelCheck);
    takeCompletions();
  }
  return Status::ok();
}

Status DenseStream::ensure(int layer, const Cancellation& cancellation) {
  if (layer < 0 || static_cast<std::size_t>(layer) >= m_layers.size()) return Status::ok();
  const auto start = std::chrono::steady_clock::now();
  Status status = settle(layer, cancellation);
  const auto waited = std::chrono::steady_clock::now() - start;
  m_waitNanoseconds.fetch_add(std::chrono::duration_cast<std::chrono::nanoseconds>(waited).count(),
                              std::memory_order_relaxed);
  if (!status.isOk()) return status;
  m_present = layer;
  readAhead(next(layer));
  return status;
}

void DenseStream::release() {
  m_present = -1;
  if (!m_layers.empty()) readAhead(0);
}

DenseStreamStats DenseStream::stats() const {
  DenseStreamStats stats;
  stats.bytesRead = m_bytesRead.load(std::memory_order_relaxed);
  stats.waitSeconds = static_cast<double>(m_waitNanoseconds.load(std::memory_order_relaxed)) * 1e-9;
  return stats;
}

}  // namespace colibri
