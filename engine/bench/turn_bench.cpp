#include "bench/turn_bench.h"

#include "bench/expert_reads.h"
#include "bench/read_ceiling.h"
#include "checkpoint/model_config.h"
#include <colibri/session.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

namespace colibri {
namespace {

using Clock = std::chrono::steady_clock;

/// The prompt: ids that every vocabulary of the family has room for, taken modulo its size.
constexpr std::array<TokenId, 8> kPrompt{5, 9, 100, 20, 33, 7, 81, 4};

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Rate of the bare loop over all folders together: they may be read side by side.
class Ceilings {
public:
  static Result<Ceilings> open(const EngineOptions& options, const EnginePlan& plan) {
    COLIBRI_ASSIGN_OR_RETURN(const ModelConfig config, ModelConfig::load(options.model));
    COLIBRI_ASSIGN_OR_RETURN(const auto shards, ShardSet::open(options.model, options.shardDirs));
    COLIBRI_ASSIGN_OR_RETURN(const ExpertLayout layout, ExpertLayout::build(config, *shards));
    COLIBRI_ASSIGN_OR_RETURN(const auto folders, expertFolders(*shards, layout, options.mirrors));
    Ceilings ceilings;
    for (int layer = 0; layer < layout.layers(); ++layer) {
      ceilings.m_experts += static_cast<std::uint64_t>(layout.experts(layer));
    }
    for (const ExpertFolder& folder : folders) {
      ReadCeilingOptions read;
      read.files = folder.files();
      read.blockBytes = std::min(kReadPieceBytes, alignUp(layout.maxExpertBytes()));
      read.depth = std::max(1, plan.queueDepth);
      read.direct = options.direct;
      read.uring = plan.io == "uring";
      auto opened = ReadCeiling::open(read);
      if (!opened && read.direct) {
        // Where the file system refuses direct reads, the engine's are buffered, too.
        read.direct = false;
        opened = ReadCeiling::open(read);
      }
      COLIBRI_RETURN_IF_ERROR(opened.status());
      ceilings.m_folders.push_back(std::move(*opened));
    }
    return ceilings;
  }

  Result<double> measure(double seconds, const Cancellation& cancellation) {
    double sum = 0;
    for (const auto& folder : m_folders) {
      COLIBRI_ASSIGN_OR_RETURN(const ReadRate rate, folder->measure(seconds, cancellation));
      sum += rate.bytesPerSecond();
    }
    return sum;
  }
  [[nodiscard]] std::uint64_t experts() const { return m_experts; }

private:
  Ceilings() = default;
  std::vector<std::unique_ptr<ReadCeiling>> m_folders;
  std::uint64_t m_experts = 0;
};

double sumOf(const TimeSplit& split) {
  return split.diskWaitSeconds + split.expertSeconds + split.denseSeconds + split.attentionSeconds + split.otherSeconds;
}

struct Turn {
  TurnFigure figure;
  Answer answer;
};

/// One turn in a new session. The prompt is computed first, so that the answer's figures are those of decode.
Result<Turn> makeTurn(Engine& engine, const std::string& name, int maxTokens, const Cancellation& cancellation) {
  std::vector<TokenId> prompt;
  prompt.reserve(std::size(kPrompt));
  for (const TokenId id : kPrompt) prompt.push_back(id % engine.model().vocabSize);
  COLIBRI_ASSIGN_OR_RETURN(const auto session, engine.newSession());
  Turn turn;
  turn.figure.name = name;
  const auto start = Clock::now();
  COLIBRI_RETURN_IF_ERROR(session->sync(prompt, cancellation));
  turn.figure.prefillSeconds = secondsSince(start);
  GenerateOptions how;
  how.maxTokens = maxTokens;
  how.ignoreEos = true;
  COLIBRI_ASSIGN_OR_RETURN(turn.answer, session->generate(prompt, how, cancellation));
  if (!turn.answer.error.isOk()) return turn.answer.error;
  TurnFigure& figure = turn.figure;
  const Answer& answer = turn.answer;
  figure.predictedTokensPerSecond = answer.prediction.decodeTokensPerSecond;
  figure.promptTokens = answer.promptTokens;
  figure.decodedTokens = std::max<std::int64_t>(0, answer.completionTokens - 1);
  figure.decodeSeconds = answer.timings.prefillSeconds + answer.timings.decodeSeconds;
  const auto tokens = static_cast<double>(figure.decodedTokens);
  figure.tokensPerSecond = figure.decodeSeconds > 0 ? tokens / figure.decodeSeconds : 0;
  figure.experts = answer.experts;
  figure.split = answer.timings.split;
  if (figure.decodeSeconds > 0) {
    const double busy = answer.experts.readBytesPerSecond > 0
                            ? static_cast<double>(answer.experts.bytesRead) / answer.experts.readBytesPerSecond
                            : 0;
    figure.busyFraction = busy / figure.decodeSeconds;
    figure.splitOverWall = sumOf(figure.split) / figure.decodeSeconds;
  }
  if (answer.experts.bytesMissed > 0) {
    figure.readOverMissed =
        static_cast<double>(answer.experts.bytesRead) / static_cast<double>(answer.experts.bytesMissed);
  }
  return turn;
}

/// The decode time of the turn with every expert in memory; nothing when they do not fit.
Result<std::optional<Turn>> residentTurn(EngineOptions options, std::uint64_t experts, int maxTokens,
                                         const Cancellation& cancellation) {
  options.ramBytes.reset();
  options.cap.reset();
  options.cacheExperts = experts;
  options.recordUsage = false;
  const auto engine = Engine::open(options, {}, cancellation);
  if (!engine && engine.status().code() == Code::kMemory) return std::optional<Turn>();
  COLIBRI_RETURN_IF_ERROR(engine.status());
  // The first turn brings what the second one uses.
  COLIBRI_ASSIGN_OR_RETURN(Turn turn, makeTurn(**engine, "fill", maxTokens, cancellation));
  COLIBRI_ASSIGN_OR_RETURN(turn, makeTurn(**engine, "resident", maxTokens, cancellation));
  if (turn.answer.experts.misses > 0) return std::optional<Turn>();
  return std::optional<Turn>(std::move(turn));
}

Status sameTokens(const Turn& a, const Turn& b) {
  if (a.answer.tokens == b.answer.tokens) return Status::ok();
  return Status(
      Code::kInternal, "turns_differ",
      "The same turn gave other tokens with another cache, which must never happen; the figures mean nothing.");
}

void judge(TurnFigure& figure, const std::optional<Turn>& resident) {
  if (figure.experts.misses == 0) {
    figure.computeSeconds = figure.decodeSeconds;
    figure.computeMeasured = true;
  } else if (resident) {
    figure.computeSeconds = resident->figure.decodeSeconds;
    figure.computeMeasured = true;
  } else {
    figure.computeSeconds = figure.decodeSeconds - figure.split.diskWaitSeconds;
  }
  if (figure.ceiling > 0) {
    figure.diskLimitSeconds = static_cast<double>(figure.experts.bytesMissed) / figure.ceiling;
  }
  const double limit = std::max(figure.diskLimitSeconds, figure.computeSeconds);
  figure.wallOverLimit = limit > 0 ? figure.decodeSeconds / limit : 0;
}

}  // namespace

Result<TurnBenchReport> benchTurn(const TurnBenchOptions& options,
                                  const std::function<void(const LoadProgress&)>& progress,
                                  const Cancellation& cancellation) {
  const double window = options.quick ? 0.01 : 0.5;
  TurnBenchReport report;
  std::vector<Turn> turns;
  {
    COLIBRI_ASSIGN_OR_RETURN(const auto engine, Engine::open(options.engine, progress, cancellation));
    COLIBRI_ASSIGN_OR_RETURN(Ceilings ceilings, Ceilings::open(options.engine, engine->plan()));
    report.budgetBytes = engine->plan().budgetBytes;
    report.expertSlots = engine->plan().expertSlots;
    report.totalExperts = ceilings.experts();
    COLIBRI_ASSIGN_OR_RETURN(double before, ceilings.measure(window, cancellation));
    for (const char* name : {"cold", "warm"}) {
      COLIBRI_ASSIGN_OR_RETURN(Turn turn, makeTurn(*engine, name, options.maxTokens, cancellation));
      COLIBRI_ASSIGN_OR_RETURN(const double after, ceilings.measure(window, cancellation));
      turn.figure.ceiling = (before + after) / 2;
      before = after;
      report.memoryPeakBytes = turn.answer.memoryPeakBytes;
      report.anonymousPeakBytes = turn.answer.anonymousPeakBytes;
      turns.push_back(std::move(turn));
    }
    report.notices = engine->takeNotices();
    COLIBRI_RETURN_IF_ERROR(sameTokens(turns[0], turns[1]));
  }
  const bool misses =
      std::any_of(turns.begin(), turns.end(), [](const Turn& turn) { return turn.figure.experts.misses; });
  std::optional<Turn> resident;
  if (misses) {
    COLIBRI_ASSIGN_OR_RETURN(resident,
                             residentTurn(options.engine, report.totalExperts, options.maxTokens, cancellation));
    if (resident) {
      COLIBRI_RETURN_IF_ERROR(sameTokens(turns[0], *resident));
    } else {
      report.notices.push_back("The experts do not fit in memory together: the compute time is estimated.");
    }
  }
  for (Turn& turn : turns) {
    judge(turn.figure, resident);
    report.turns.push_back(std::move(turn.figure));
  }
  return report;
}

}  // namespace colibri
