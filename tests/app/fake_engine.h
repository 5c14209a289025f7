#pragma once
// An engine whose answers, speed, stalls and errors a test chooses.

#include "app/engine/engine_worker.h"
#include <colibri/engine.h>
#include <colibri/session.h>
#include <colibri/tokenizer.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace colibri::test {

/// What the fake does. Shared with the test, which may change it between commands; the atomics at any time.
struct FakeScript {
  std::vector<std::string> pieces{"Hello", " from", " the", " fake."};
  std::chrono::microseconds pause{0};  ///< before each token
  int prefillSteps = 1;
  std::chrono::microseconds prefillPause{0};
  std::optional<std::size_t> stallAt;  ///< before this token nothing happens until cancelled
  std::optional<std::size_t> failAt;   ///< the answer ends with FinishReason::kError here
  Status startError;                   ///< generate() cannot start
  Status openError;                    ///< the model cannot be loaded
  bool openStalls = false;             ///< loading waits until it is cancelled
  bool hasTokenizer = true;

  std::atomic<bool> insideGenerate{false};
  std::atomic<int> enginesAlive{0};
  std::atomic<std::uint64_t> hits{62};
  std::atomic<std::uint64_t> requests{100};
  std::vector<TokenId> lastPrompt;  ///< read it only while no command runs
  GenerateOptions lastOptions;
};

/// A factory for EngineThread.
app::EngineFactory fakeFactory(std::shared_ptr<FakeScript> script);

/// Options that name a folder whose chat dialect can be found out.
EngineOptions fakeOptions();

}  // namespace colibri::test
