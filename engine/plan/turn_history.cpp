#include "plan/turn_history.h"

#include "base/json.h"
#include "base/whole_file.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <system_error>

namespace colibri {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFileBytes = std::size_t{1} << 20;
constexpr int kVersion = 1;
constexpr double kMostSeconds = 1e7;
constexpr double kMostCount = 1e15;
constexpr double kMostRate = 1e13;
constexpr std::size_t kMostText = 64;

bool isModelId(std::string_view id) {
  return id.size() == 32 && id.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

fs::path fileOf(const fs::path& dataFolder, std::string_view modelId) {
  return dataFolder / "turns" / (std::string(modelId) + ".json");
}

OrderedJson phaseJson(const TurnPhase& phase) {
  return {{"tokens", phase.tokens},
          {"seconds", phase.seconds},
          {"disk_wait_s", phase.split.diskWaitSeconds},
          {"expert_s", phase.split.expertSeconds},
          {"dense_s", phase.split.denseSeconds},
          {"attention_s", phase.split.attentionSeconds},
          {"other_s", phase.split.otherSeconds},
          {"requests", phase.requests},
          {"hits", phase.hits},
          {"bytes_read", phase.bytesRead}};
}

OrderedJson turnJson(const TurnRecord& turn) {
  return {{"time", turn.time},
          {"isa", turn.isa},
          {"threads", turn.threads},
          {"drives", turn.drives},
          {"segment", turn.segment},
          {"chunk", turn.chunk},
          {"streams_dense", turn.streamsDense},
          {"slots", turn.slots},
          {"resident_at_start", turn.residentAtStart},
          {"prefill", phaseJson(turn.prefill)},
          {"decode", phaseJson(turn.decode)},
          {"read_bytes_per_s", turn.readBytesPerSecond},
          {"predicted_decode_tokens_per_s", turn.predictedDecodeTokensPerSecond},
          {"predicted_first_token_s", turn.predictedFirstTokenSeconds}};
}

/// Reads members of one object; any that is absent, of another type or out of range makes it invalid.
class Fields {
public:
  explicit Fields(const Json& json) : m_json(json), m_valid(json.is_object()) {}

  double number(const char* key, double most) {
    const Json* value = find(key);
    const double read = value != nullptr && value->is_number() ? value->get<double>() : -1;
    m_valid = m_valid && read >= 0 && read <= most;
    return m_valid ? read : 0;
  }
  template <typename T>
  T whole(const char* key, double most = kMostCount) {
    const double read = number(key, std::min(most, static_cast<double>(std::numeric_limits<T>::max())));
    m_valid = m_valid && read == std::floor(read);
    return m_valid ? static_cast<T>(read) : T{0};
  }
  std::string text(const char* key) {
    const Json* value = find(key);
    m_valid =
        m_valid && value != nullptr && value->is_string() && value->get_ref<const std::string&>().size() <= kMostText;
    return m_valid ? value->get<std::string>() : std::string();
  }
  bool flag(const char* key) {
    const Json* value = find(key);
    m_valid = m_valid && value != nullptr && value->is_boolean();
    return m_valid && value->get<bool>();
  }
  TurnPhase phase(const char* key) {
    TurnPhase phase;
    const Json* value = find(key);
    if (value == nullptr) return phase;
    Fields inner(*value);
    phase.tokens = inner.whole<std::int64_t>("tokens");
    phase.seconds = inner.number("seconds", kMostSeconds);
    phase.split.diskWaitSeconds = inner.number("disk_wait_s", kMostSeconds);
    phase.split.expertSeconds = inner.number("expert_s", kMostSeconds);
    phase.split.denseSeconds = inner.number("dense_s", kMostSeconds);
    phase.split.attentionSeconds = inner.number("attention_s", kMostSeconds);
    phase.split.otherSeconds = inner.number("other_s", kMostSeconds);
    phase.requests = inner.whole<std::uint64_t>("requests");
    phase.hits = inner.whole<std::uint64_t>("hits");
    phase.bytesRead = inner.whole<std::uint64_t>("bytes_read");
    m_valid = m_valid && inner.isValid() && phase.hits <= phase.requests;
    return phase;
  }
  [[nodiscard]] bool isValid() const { return m_valid; }

private:
  const Json* find(const char* key) {
    if (!m_valid) return nullptr;
    const auto at = m_json.find(key);
    m_valid = at != m_json.end();
    return m_valid ? &*at : nullptr;
  }

  const Json& m_json;
  bool m_valid;
};

std::optional<TurnRecord> turnFrom(const Json& json) {
  constexpr double kMostInt = 1 << 30;
  Fields fields(json);
  TurnRecord turn;
  turn.time = fields.whole<std::int64_t>("time");
  turn.isa = fields.text("isa");
  turn.threads = fields.whole<int>("threads", kMostInt);
  turn.drives = fields.text("drives");
  turn.segment = fields.whole<int>("segment", kMostInt);
  turn.chunk = fields.whole<int>("chunk", kMostInt);
  turn.streamsDense = fields.flag("streams_dense");
  turn.slots = fields.whole<std::uint64_t>("slots");
  turn.residentAtStart = fields.whole<std::uint64_t>("resident_at_start");
  turn.prefill = fields.phase("prefill");
  turn.decode = fields.phase("decode");
  turn.readBytesPerSecond = fields.number("read_bytes_per_s", kMostRate);
  turn.predictedDecodeTokensPerSecond = fields.number("predicted_decode_tokens_per_s", kMostRate);
  turn.predictedFirstTokenSeconds = fields.number("predicted_first_token_s", kMostSeconds);
  if (!fields.isValid() || turn.segment < 1 || turn.chunk < 1 || turn.threads < 1) return std::nullopt;
  return turn;
}

/// Fills `turns`; the return says why something was left out.
std::string readTurns(const std::string& text, std::vector<TurnRecord>& turns) {
  JsonLimits limits;
  limits.maxBytes = kMostFileBytes;
  limits.maxDepth = 8;
  const Result<Json> json = parseJson(text, "The record of earlier turns", "bad_turns", limits);
  if (!json) return json.status().message() + " It is not used.";
  const auto version = json->is_object() ? json->find("version") : json->end();
  const auto list = json->is_object() ? json->find("turns") : json->end();
  if (!json->is_object() || version == json->end() || *version != kVersion || list == json->end() ||
      !list->is_array()) {
    return "The record of earlier turns is of another version or no such record; it is not used.";
  }
  std::size_t wrong = 0;
  for (const Json& entry : *list) {
    if (auto turn = turnFrom(entry)) {
      turns.push_back(std::move(*turn));
    } else {
      ++wrong;
    }
  }
  if (turns.size() > TurnHistory::kMostTurns) {
    turns.erase(turns.begin(), turns.end() - static_cast<std::ptrdiff_t>(TurnHistory::kMostTurns));
  }
  return wrong == 0 ? std::string()
                    : std::to_string(wrong) + " of the recorded turns have impossible figures and are not used.";
}

Status writeError(const fs::path& file) {
  return Status(Code::kIo, "turns_not_written",
                "What was learned from this turn could not be written to " + file.string() +
                    ". Check the folder's rights and free space.");
}

Status writeFile(const fs::path& file, const std::string& text) {
  return replaceFile(file, text) ? writeError(file) : Status::ok();
}

}  // namespace

TurnHistory TurnHistory::load(const fs::path& dataFolder, std::string_view modelId) {
  TurnHistory history;
  if (dataFolder.empty() || !isModelId(modelId)) return history;
  history.m_file = fileOf(dataFolder, modelId);
  std::error_code error;
  if (!fs::exists(history.m_file, error)) return history;
  const Result<std::string> text = readFile(history.m_file, kMostFileBytes);
  history.m_notice = text ? readTurns(*text, history.m_turns)
                          : "The record of earlier turns cannot be used: " + text.status().message();
  return history;
}

Status TurnHistory::record(const TurnRecord& turn) {
  if (turn.prefill.tokens <= 0 && turn.decode.tokens <= 0) return Status::ok();
  m_turns.push_back(turn);
  if (m_turns.size() > kMostTurns) m_turns.erase(m_turns.begin());
  if (m_file.empty()) return Status::ok();
  OrderedJson list = OrderedJson::array();
  for (const TurnRecord& one : m_turns) list.push_back(turnJson(one));
  const OrderedJson json{{"version", kVersion}, {"turns", std::move(list)}};
  return writeFile(m_file, json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace) + "\n");
}

Status TurnHistory::forget(const fs::path& dataFolder, std::string_view modelId) {
  if (dataFolder.empty()) return Status::ok();
  if (!modelId.empty() && !isModelId(modelId)) {
    return Status(Code::kUsage, "bad_model_id", "A model id has 32 hexadecimal digits.");
  }
  const fs::path what = modelId.empty() ? dataFolder / "turns" : fileOf(dataFolder, modelId);
  std::error_code error;
  fs::remove_all(what, error);
  if (!error) return Status::ok();
  return Status(Code::kIo, "not_removed", what.string() + " cannot be removed: " + error.message() + ".");
}

}  // namespace colibri
