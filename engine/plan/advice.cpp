#include "plan/advice.h"

#include "base/units.h"
#include "plan/planned_drives.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace colibri {
namespace {

constexpr double kLeastGain = 0.03;
constexpr std::uint64_t kGib = std::uint64_t{1} << 30;
constexpr std::int64_t kLongPrompt = 4096;  // tokens for which prefill advice is computed
constexpr double kLocalDrive = 3e9;         // what a slow drive is compared with

std::string percent(double gain) {
  if (gain >= 2) return "about " + std::to_string(static_cast<int>(std::lround(gain + 1))) + " times the speed";
  return "about +" + std::to_string(static_cast<int>(std::lround(gain * 100))) + " %";
}

std::string gib(std::uint64_t bytes) {
  const double value = static_cast<double>(bytes) / static_cast<double>(kGib);
  return std::to_string(static_cast<std::uint64_t>(std::ceil(value - 1e-9))) + "G";
}

class Advisor {
public:
  explicit Advisor(const AdviceFacts& facts) : m_facts(facts), m_speed(speedOf(facts.predictor)) {}

  std::vector<std::string> run() {
    if (!(m_speed > 0)) {
      driveWarnings();
      return take();
    }
    moreMemory();
    budgetBelowFree();
    givenSlots();
    secondDrive();
    streamedDense();
    longerSegment();
    driveWarnings();
    return take();
  }

private:
  struct Sentence {
    double gain;
    std::string text;
  };

  [[nodiscard]] double speedOf(const TurnPredictor& predictor) const {
    return predictor.predict(m_facts.shape).decodeTokensPerSecond;
  }

  /// Decode speed after planning with another input, relative to now, less one; nothing where it does not fit.
  [[nodiscard]] std::optional<double> gainOf(const PlanInput& input) const {
    const Result<EnginePlan> plan = planMemory(input);
    if (!plan) return std::nullopt;
    PredictorFacts facts = m_facts.predictor.facts();
    facts.slots = plan->expertSlots;
    facts.streamsDense = plan->streamsDense;
    return speedOf(m_facts.predictor.with(facts)) / m_speed - 1;
  }

  void add(double gain, std::string text) {
    if (gain >= kLeastGain) m_sentences.push_back({gain, std::move(text)});
  }

  [[nodiscard]] bool hasMisses() const { return m_facts.plan.expertSlots < m_facts.input.totalExperts; }

  void moreMemory() {
    if (m_facts.input.cacheExperts || m_facts.input.cap) return;
    for (const std::uint64_t more : {8 * kGib, 32 * kGib}) {
      PlanInput input = m_facts.input;
      input.ramBytes = m_facts.plan.budgetBytes + more;
      input.freeBytes = std::max(input.freeBytes, m_facts.plan.budgetBytes) + 2 * more;
      const std::optional<double> gain = gainOf(input);
      if (!gain || *gain < kLeastGain) continue;
      add(*gain, gib(more).substr(0, gib(more).size() - 1) + " GiB more memory would give " + percent(*gain) + ".");
      return;
    }
  }

  void budgetBelowFree() {
    if (!m_facts.input.ramBytes) return;
    const std::uint64_t free = m_facts.input.freeBytes - systemMargin(m_facts.input.freeBytes);
    if (*m_facts.input.ramBytes > m_facts.input.freeBytes) {
      m_sentences.push_back({0, "The budget of " + binarySize(*m_facts.input.ramBytes) + " is more than the " +
                                    binarySize(m_facts.input.freeBytes) +
                                    " that are free; the expert cache is planned for what is there."});
      return;
    }
    PlanInput input = m_facts.input;
    input.ramBytes = free;
    if (free < *m_facts.input.ramBytes) return;
    if (const auto gain = gainOf(input)) {
      add(*gain, "--ram " + settingFloor(free) + " would use the memory that is free and give " + percent(*gain) + ".");
    }
  }

  static std::string settingFloor(std::uint64_t bytes) {
    return bytes >= kGib ? std::to_string(bytes / kGib) + "G" : std::to_string(bytes >> 20) + "M";
  }

  void givenSlots() {
    if (!m_facts.input.cacheExperts && !m_facts.input.cap) return;
    PlanInput input = m_facts.input;
    input.cacheExperts.reset();
    input.cap.reset();
    const Result<EnginePlan> plan = planMemory(input);
    const std::optional<double> gain = gainOf(input);
    if (!plan || !gain) return;
    add(*gain, std::string("Without ") + (m_facts.input.cap ? "--cap" : "--cache-experts") + " there would be " +
                   std::to_string(plan->expertSlots) + " expert slots, which gives " + percent(*gain) + ".");
  }

  void secondDrive() {
    const auto& drives = m_facts.plan.drives;
    if (!hasMisses() && !m_facts.plan.streamsDense) return;
    if (std::any_of(drives.begin(), drives.end(), [](const PlannedDrive& drive) { return drive.isMirror; })) return;
    PredictorFacts facts = m_facts.predictor.facts();
    facts.diskBytesPerSecond *= 2;
    const double gain = speedOf(m_facts.predictor.with(facts)) / m_speed - 1;
    add(gain, "A copy of the experts on a second drive that is as fast (coli mirror, then --mirror) would give " +
                  percent(gain) + ".");
  }

  void streamedDense() {
    if (!m_facts.plan.streamsDense) return;
    PlanInput input = m_facts.input;
    const std::uint64_t saved = input.streamableBytes - input.windowBytes;
    input.ramBytes = m_facts.plan.budgetBytes + saved;
    input.freeBytes = std::max(input.freeBytes, m_facts.plan.budgetBytes) * 2 + 2 * saved;
    const std::optional<double> gain = gainOf(input);
    std::string text = "The weights that every token needs do not fit and are read again for each token; --ram " +
                       gib(*input.ramBytes) + " would keep them in memory";
    if (!gain || *gain < kLeastGain) {
      m_sentences.push_back({0, text + "."});
    } else {
      add(*gain, text + " and give " + percent(*gain) + ".");
    }
  }

  void longerSegment() {
    if (m_facts.segmentIsGiven || !m_facts.scratchBytes || !hasMisses()) return;
    const int segment = m_facts.predictor.facts().segment;
    const int longer = static_cast<int>(std::min<std::int64_t>(m_facts.context, kLongPrompt));
    if (longer <= segment) return;
    PlanInput input = m_facts.input;
    input.scratchBytes = m_facts.scratchBytes(longer);
    const Result<EnginePlan> plan = planMemory(input);
    if (!plan || plan->streamsDense != m_facts.plan.streamsDense) return;
    PredictorFacts facts = m_facts.predictor.facts();
    TurnShape prompt = m_facts.shape;
    prompt.promptTokens = longer;
    const double before = m_facts.predictor.predict(prompt).firstTokenSeconds;
    facts.slots = plan->expertSlots;
    facts.segment = longer;
    const double after = m_facts.predictor.with(facts).predict(prompt).firstTokenSeconds;
    if (!(after > 0) || before / after - 1 < 0.1) return;
    // Speed of prompts, not of answers: listed behind what makes answers faster.
    m_sentences.push_back({0.001, "--prefill-segment " + std::to_string(longer) + " would read a prompt of " +
                                      std::to_string(longer) + " tokens in " + seconds(after) + " instead of " +
                                      seconds(before) + ", for " +
                                      binarySize(input.scratchBytes - m_facts.input.scratchBytes) + " more memory."});
  }

  static std::string seconds(double value) {
    const long whole = std::lround(value);
    return whole >= 1 ? std::to_string(whole) + " s" : "less than a second";
  }

  void driveWarnings() {
    for (const PlannedDrive& drive : m_facts.plan.drives) {
      if (drive.warning.empty()) continue;
      double gain = 0;
      if (m_speed > 0 && drive.bytesPerSecond < kLocalDrive && (drive.kind == "network" || drive.kind == "hdd")) {
        PredictorFacts facts = m_facts.predictor.facts();
        facts.diskBytesPerSecond = std::max(facts.diskBytesPerSecond, kLocalDrive);
        gain = speedOf(m_facts.predictor.with(facts)) / m_speed - 1;
      }
      std::string text = drive.path.string() + ": " + drive.warning;
      if (gain >= kLeastGain) text += " A local NVMe drive would give " + percent(gain) + ".";
      m_sentences.push_back({gain, std::move(text)});
    }
  }

  std::vector<std::string> take() {
    std::stable_sort(m_sentences.begin(), m_sentences.end(),
                     [](const Sentence& a, const Sentence& b) { return a.gain > b.gain; });
    std::vector<std::string> texts;
    for (Sentence& sentence : m_sentences) texts.push_back(std::move(sentence.text));
    return texts;
  }

  const AdviceFacts& m_facts;
  double m_speed = 0;
  std::vector<Sentence> m_sentences;
};

}  // namespace

std::vector<std::string> adviceFor(const AdviceFacts& facts) {
  return Advisor(facts).run();
}

}  // namespace colibri
