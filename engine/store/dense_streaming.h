#pragma once
// Dense weights that do not fit into RAM: the large matrices of a layer are read for every pass, the next layer's while
// the present one computes.

#include "base/buffer.h"
#include "checkpoint/tensor.h"
#include "io/read_backend.h"
#include "store/dense_store.h"
#include <colibri/cancellation.h>
#include <colibri/status.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace colibri {

/// Smaller tensors stay resident: together they are little, and each would cost a read a pass.
inline constexpr std::uint64_t kStreamedTensorBytes = std::uint64_t{1} << 20;
inline constexpr std::size_t kStreamingWindows = 2;

/// Whether a tensor is read for each pass when dense weights do not fit: a matrix of a decoder layer that computing
/// reads in place and that has at least `threshold` bytes. Embedding, head, routers, small tensors and the tables that
/// are converted once at load stay resident.
[[nodiscard]] bool streamsWhenShort(const DenseStore::Want& want, std::uint64_t threshold = kStreamedTensorBytes);

/// RAM of the windows through which the streamed ones of `wants` pass: one for the even layers and one for the odd,
/// each as large as its largest layer with the edges that direct reads need.
[[nodiscard]] std::uint64_t streamingWindowBytes(std::span<const DenseStore::Want> wants,
                                                 std::uint64_t threshold = kStreamedTensorBytes);

/// How to stream. `backend` is the stream's own, its files are the model's shards in their order, and it reads on
/// without being polled (IoKind::kThreads), since a layer computes for long.
struct DenseStreaming {
  std::unique_ptr<ReadBackend> backend;
  std::uint64_t threshold = kStreamedTensorBytes;
};

struct DenseStreamStats {
  std::uint64_t bytesRead = 0;  ///< what the read calls asked of the files
  double waitSeconds = 0;       ///< time that ensure() waited
};

/// Layer l's tensors always lie at the same place in window l % 2, so views of them are made once. One user at a time;
/// stats() from any thread.
class DenseStream {
public:
  /// `streamed`: tensors that streamsWhenShort() names; `backend`: as in DenseStreaming. kMemory when there is no room
  /// for the windows. Reads nothing yet.
  static Result<std::unique_ptr<DenseStream>> create(std::span<const DenseStore::Want> streamed,
                                                     std::unique_ptr<ReadBackend> backend,
                                                     std::shared_ptr<Ledger> ledger);
  DenseStream(const DenseStream&) = delete;
  DenseStream& operator=(const DenseStream&) = delete;
  ~DenseStream() = default;

  /// Calls `visit(name, place)` for each streamed tensor. Places are aligned to the tensor's elements; their bytes are
  /// valid from ensure() of their layer to ensure() of another one or release().
  template <typename Visit>
  void forEachPlace(const Visit& visit) const {
    for (const Layer& layer : m_layers) {
      for (const Piece& piece : layer.pieces) visit(piece.tensor.name, piece.place);
    }
  }

  /// Waits until the layer's tensors are in their window, reading them now if nobody has, and starts to read the next
  /// layer's (the first follows the last). Errors: kIo; kCheckpoint "bad_value" the first time that a layer is seen;
  /// kCancelled within 100 ms. After an error the next call reads again. A failed read ahead is no error yet.
  Status ensure(int layer, const Cancellation& cancellation);
  /// Ends a pass: no layer's tensors are used any more, so the first layer is read ahead wherever it has to go.
  void release();

  [[nodiscard]] DenseStreamStats stats() const;
  [[nodiscard]] const ReadBackend& backend() const { return *m_backend; }

private:
  struct Piece {
    TensorInfo tensor;
    std::uint64_t windowOffset = 0;  ///< where the blocks that hold the tensor land
    std::byte* place = nullptr;      ///< where its bytes are to be
  };
  struct Layer {
    std::vector<Piece> pieces;
    bool checked = false;  ///< its values have been looked at
  };
  enum class WindowState { kEmpty, kReading, kReady };
  struct Window {
    std::byte* data = nullptr;
    WindowState state = WindowState::kEmpty;
    int layer = -1;  ///< that it holds or is being read
    std::size_t readsLeft = 0;
    Status failure;  ///< of the last reading
  };

  DenseStream() = default;
  [[nodiscard]] Window& windowOf(int layer) { return m_windows[static_cast<std::size_t>(layer) % kStreamingWindows]; }
  [[nodiscard]] int next(int layer) const { return (layer + 1) % static_cast<int>(m_layers.size()); }
  [[nodiscard]] bool holds(int layer);
  void startReading(int layer);
  void readAhead(int layer);
  void takeCompletions();
  void endRead(const ReadCompletion& completion);
  void finish(Window& window);
  Status settle(int layer, const Cancellation& cancellation);

  std::vector<Layer> m_layers;  ///< by number; some may have no pieces
  std::array<Window, kStreamingWindows> m_windows{};
  std::vector<ReadRequest> m_requests;
  int m_present = -1;
  std::atomic<std::uint64_t> m_bytesRead{0};
  std::atomic<std::int64_t> m_waitNanoseconds{0};
  Buffer m_memory;
  std::unique_ptr<ReadBackend> m_backend;  ///< last, so that it goes first: its reads end before the memory does
};

}  // namespace colibri
