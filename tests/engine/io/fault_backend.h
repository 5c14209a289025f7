#pragma once
// A ReadBackend around a real one that delays, reorders, shortens and fails reads as it is told. Deterministic by its
// seed as far as the real one allows; no wall clock is involved: delays are counted in polls.

#include "io/read_backend.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace colibri::testing {

enum class Fault { kNone, kFail, kShort };

/// Shared between a test and the backend that it has given away. Used by the owner thread only.
struct FaultControl {
  std::uint64_t seed = 1;
  int longestDelay = 0;  ///< a finished read is held back for 0 to this many polls, so that reads overtake each other
  bool stalled = false;  ///< nothing is handed out while set
  bool refuseSubmits = false;  ///< submit() itself fails
  /// What becomes of a read; asked once a request, in the order of submission.
  std::function<Fault(const ReadRequest&)> choose;
  std::vector<ReadRequest> log;         ///< every request so far
  std::vector<std::uint64_t> promoted;  ///< tags
};

class FaultBackend final : public ReadBackend {
public:
  FaultBackend(std::unique_ptr<ReadBackend> inner, std::shared_ptr<FaultControl> control)
      : m_inner(std::move(inner)), m_control(std::move(control)), m_random(m_control->seed) {}

  Status submit(std::span<const ReadRequest> requests) override {
    if (m_control->refuseSubmits) return Status(Code::kIo, "injected", "The drive takes no reads.");
    std::vector<ReadRequest> real;
    for (const ReadRequest& request : requests) {
      m_control->log.push_back(request);
      // What is used before it has landed, or after it has failed, is visibly wrong.
      std::memset(request.target, 0xa5, request.bytes);
      const Fault fault = m_control->choose ? m_control->choose(request) : Fault::kNone;
      if (fault == Fault::kFail) {
        hold({request.tag,
              Status(Code::kIo, "injected",
                     "Reading file " + std::to_string(request.file) + " at byte " + std::to_string(request.offset) +
                         " failed."),
              0, std::chrono::steady_clock::now()});
        continue;
      }
      if (fault == Fault::kShort) m_shortTags.push_back(request.tag);
      real.push_back(request);
    }
    return real.empty() ? Status::ok() : m_inner->submit(real);
  }

  std::size_t poll(std::span<ReadCompletion> completions, bool wait) override {
    std::size_t count = handOut(completions);
    while (wait && count == 0 && inFlight() > 0) {
      if (!waitReady(std::chrono::milliseconds(10)) && !m_held.empty()) std::this_thread::yield();
      count = handOut(completions);
    }
    return count;
  }

  bool waitReady(std::chrono::milliseconds timeout) override {
    if (m_control->stalled) {
      std::this_thread::sleep_for(timeout);
      return false;
    }
    collect();
    if (m_held.empty()) {
      if (!m_inner->waitReady(timeout)) return false;
      collect();
    }
    // One unit of delay passes with every call; the next to go is due at last.
    const auto first =
        std::min_element(m_held.begin(), m_held.end(), [](const Held& a, const Held& b) { return a.delay < b.delay; });
    if (first != m_held.end()) first->delay = 0;
    return first != m_held.end();
  }

  [[nodiscard]] std::size_t inFlight() const override { return m_inner->inFlight() + m_held.size(); }
  [[nodiscard]] FileAccess access(std::uint32_t file) const override { return m_inner->access(file); }
  [[nodiscard]] std::string_view name() const override { return m_inner->name(); }
  void promote(std::uint64_t tag, ReadPriority priority) override {
    m_control->promoted.push_back(tag);
    m_inner->promote(tag, priority);
  }
  [[nodiscard]] std::vector<DriveCounters> driveCounters() const override { return m_inner->driveCounters(); }
  std::vector<std::string> takeNotices() override { return m_inner->takeNotices(); }

private:
  struct Held {
    ReadCompletion completion;
    int delay = 0;
  };

  void hold(ReadCompletion completion) {
    const int delay = m_control->longestDelay == 0 ? 0 : static_cast<int>(m_random() % (m_control->longestDelay + 1U));
    m_held.push_back({std::move(completion), delay});
  }

  void collect() {
    ReadCompletion completion;
    while (m_inner->poll(std::span(&completion, 1), false) == 1) {
      const auto mark = std::find(m_shortTags.begin(), m_shortTags.end(), completion.tag);
      if (mark != m_shortTags.end()) {
        m_shortTags.erase(mark);
        completion.bytes /= 2;
      }
      hold(std::move(completion));
    }
  }

  std::size_t handOut(std::span<ReadCompletion> completions) {
    if (m_control->stalled) return 0;
    collect();
    if (m_control->longestDelay > 0) std::shuffle(m_held.begin(), m_held.end(), m_random);
    std::size_t count = 0;
    for (std::size_t i = 0; i < m_held.size();) {
      if (count < completions.size() && m_held[i].delay <= 0) {
        completions[count++] = std::move(m_held[i].completion);
        m_held.erase(m_held.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        --m_held[i++].delay;
      }
    }
    return count;
  }

  std::unique_ptr<ReadBackend> m_inner;
  std::shared_ptr<FaultControl> m_control;
  std::mt19937_64 m_random;
  std::vector<Held> m_held;
  std::vector<std::uint64_t> m_shortTags;
};

}  // namespace colibri::testing
