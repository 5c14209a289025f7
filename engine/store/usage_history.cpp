#include "store/usage_history.h"

#include "base/hash.h"
#include "base/json.h"
#include "base/whole_file.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <system_error>

namespace colibri {
namespace {

namespace fs = std::filesystem;

// File: magic, experts, accesses, recorded accesses, first touches, then for each expert its uses and its weight in the
// curve, then the SHA-256 of all that. Numbers are 8 bytes, least significant first; fractions as their IEEE bits.
constexpr std::string_view kMagic = "COLIUSE1";
constexpr std::size_t kHeadBytes = 8 + 4 * 8;
constexpr std::size_t kBytesPerExpert = 2 * 8;
constexpr std::size_t kHashBytes = 64;
constexpr std::string_view kExtension = ".usage";

std::size_t fileBytes(std::size_t experts) {
  return kHeadBytes + experts * kBytesPerExpert + kHashBytes;
}

void append(std::string& out, std::uint64_t value) {
  for (int i = 0; i < 8; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
}

void append(std::string& out, double value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  append(out, bits);
}

std::uint64_t wordAt(std::string_view bytes, std::size_t index) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[index * 8 + i])) << (8 * i);
  }
  return value;
}

double fractionAt(std::string_view bytes, std::size_t index) {
  const std::uint64_t bits = wordAt(bytes, index);
  double value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// Ids become file names, so they are held to the form that modelIdOf() gives.
Status checkId(std::string_view modelId) {
  const auto isHex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (!modelId.empty() && modelId.size() <= 64 && std::all_of(modelId.begin(), modelId.end(), isHex)) {
    return Status::ok();
  }
  return Status(Code::kUsage, "model_id", "A model's id is hexadecimal digits; this is something else.");
}

Status cannotWrite(const fs::path& path, const std::error_code& error) {
  return Status(Code::kIo, "usage_write",
                "The usage history " + path.string() + " cannot be written (" + error.message() +
                    "); what this run learnt about the model's experts is not kept.");
}

}  // namespace

UsageHistory::UsageHistory(std::size_t experts)
    : m_uses(std::min(experts, kMostRecordedExperts)),
      m_halfLife(kUsageHalfLifePerExpert * static_cast<double>(std::max<std::size_t>(m_uses.size(), 1))),
      m_curve(m_uses.size(), m_halfLife) {}

void UsageHistory::used(std::size_t flatExpert, bool decode) {
  if (flatExpert >= m_uses.size()) return;
  const std::uint64_t now = m_now.load(std::memory_order_relaxed) + 1;
  Use& use = m_uses[flatExpert];
  const double uses = usesAt(use, now) + 1;
  use.uses.store(static_cast<float>(uses), std::memory_order_relaxed);
  use.at.store(now, std::memory_order_relaxed);
  m_now.store(now, std::memory_order_relaxed);
  m_curve.touch(flatExpert, decode);
  if (decode) ++m_recorded;
}

double UsageHistory::usesAt(const Use& use, std::uint64_t now) const {
  const double uses = use.uses.load(std::memory_order_relaxed);
  const std::uint64_t at = use.at.load(std::memory_order_relaxed);
  if (uses == 0 || at >= now) return uses;
  return uses * std::exp2(-static_cast<double>(now - at) / m_halfLife);
}

double UsageHistory::uses(std::size_t flatExpert) const {
  return flatExpert < m_uses.size() ? usesAt(m_uses[flatExpert], accesses()) : 0;
}

std::vector<std::uint8_t> UsageHistory::heat() const {
  std::vector<std::uint8_t> heat(m_uses.size());
  const std::uint64_t now = accesses();
  for (std::size_t i = 0; i < heat.size(); ++i) {
    const double scaled = std::ceil(24 * std::log2(1 + usesAt(m_uses[i], now)));
    heat[i] = static_cast<std::uint8_t>(std::min(scaled, 255.0));
  }
  return heat;
}

std::vector<std::uint32_t> UsageHistory::hottest(std::size_t count) const {
  std::vector<double> uses(m_uses.size());
  std::vector<std::uint32_t> ids;
  const std::uint64_t now = accesses();
  for (std::size_t i = 0; i < uses.size(); ++i) {
    uses[i] = usesAt(m_uses[i], now);
    if (uses[i] > 0) ids.push_back(static_cast<std::uint32_t>(i));
  }
  std::stable_sort(ids.begin(), ids.end(), [&](std::uint32_t a, std::uint32_t b) { return uses[a] > uses[b]; });
  ids.resize(std::min(count, ids.size()));
  return ids;
}

std::size_t UsageHistory::expertsSeen() const {
  return static_cast<std::size_t>(std::count_if(
      m_uses.begin(), m_uses.end(), [](const Use& use) { return use.uses.load(std::memory_order_relaxed) > 0; }));
}

std::string UsageHistory::encode() const {
  std::string out(kMagic);
  out.reserve(fileBytes(m_uses.size()));
  const std::uint64_t now = accesses();
  append(out, static_cast<std::uint64_t>(m_uses.size()));
  append(out, now);
  append(out, m_recorded);
  append(out, m_curve.firstTouches());
  for (const Use& use : m_uses) append(out, usesAt(use, now));
  for (const double weight : m_curve.distances()) append(out, weight);
  out += sha256Hex(std::as_bytes(std::span(out)));
  return out;
}

std::string UsageHistory::decode(std::string_view bytes) {
  if (bytes.substr(0, kMagic.size()) != kMagic) return "it is of another version, or no usage history";
  if (bytes.size() < kHeadBytes + kHashBytes) return "it is too short";
  if (wordAt(bytes, 1) != m_uses.size()) return "it is about a model with another number of experts";
  if (bytes.size() != fileBytes(m_uses.size())) return "it is not as long as it should be";
  const std::string_view body = bytes.substr(0, bytes.size() - kHashBytes);
  if (sha256Hex(std::as_bytes(std::span(body))) != bytes.substr(body.size())) return "it is damaged";
  std::vector<float> uses(m_uses.size());
  std::vector<double> weights(m_uses.size());
  constexpr std::size_t kFirst = kHeadBytes / 8;
  // A checksum only guards against accidents; the values must make sense on their own.
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const double value = fractionAt(bytes, kFirst + i);
    if (!(value >= 0 && value < 1e9)) return "it holds impossible values";
    uses[i] = static_cast<float>(value);
    weights[i] = fractionAt(bytes, kFirst + uses.size() + i);
  }
  const std::uint64_t now = wordAt(bytes, 2);
  const std::uint64_t recorded = wordAt(bytes, 3);
  if (recorded > now || now > std::uint64_t{1} << 62) return "it holds impossible values";
  if (!m_curve.restore(weights, fractionAt(bytes, 4))) return "it holds impossible values";
  for (std::size_t i = 0; i < uses.size(); ++i) {
    m_uses[i].uses.store(uses[i], std::memory_order_relaxed);
    m_uses[i].at.store(now, std::memory_order_relaxed);
  }
  m_now.store(now, std::memory_order_relaxed);
  m_recorded = recorded;
  return {};
}

fs::path UsageHistory::file(const fs::path& dataFolder, std::string_view modelId) {
  return dataFolder / "usage" / (std::string(modelId) + std::string(kExtension));
}

Result<std::unique_ptr<UsageHistory>> UsageHistory::load(const fs::path& dataFolder, std::string_view modelId,
                                                         std::size_t experts) {
  if (experts > kMostRecordedExperts) {
    return Status(Code::kUsage, "too_many_experts", "No usage history is kept for a model with this many experts.");
  }
  auto history = std::make_unique<UsageHistory>(experts);
  if (dataFolder.empty()) return history;
  COLIBRI_RETURN_IF_ERROR(checkId(modelId));
  const fs::path path = file(dataFolder, modelId);
  std::error_code error;
  if (!fs::exists(path, error)) return history;
  const Result<std::string> bytes = readFile(path, fileBytes(experts));
  std::string why = bytes ? history->decode(*bytes) : bytes.status().message();
  if (why.empty()) return history;
  while (!why.empty() && why.back() == '.') why.pop_back();
  history->m_notice = "The usage history " + path.string() + " is not used, and starts anew: " + why + ".";
  return history;
}

Status UsageHistory::save(const fs::path& dataFolder, std::string_view modelId) const {
  if (dataFolder.empty()) return Status::ok();
  COLIBRI_RETURN_IF_ERROR(checkId(modelId));
  const fs::path path = file(dataFolder, modelId);
  const std::error_code error = replaceFile(path, encode());
  return error ? cannotWrite(path, error) : Status::ok();
}

Status UsageHistory::forget(const fs::path& dataFolder, std::string_view modelId) {
  if (dataFolder.empty()) return Status::ok();
  std::error_code error;
  if (!modelId.empty()) {
    COLIBRI_RETURN_IF_ERROR(checkId(modelId));
    fs::remove(file(dataFolder, modelId), error);
  } else {
    // Only what save() made, in case somebody keeps other things there.
    for (fs::directory_iterator entry(dataFolder / "usage", error), end; !error && entry != end;
         entry.increment(error)) {
      const std::string name = entry->path().filename().string();
      if (name.find(kExtension) == std::string::npos) continue;
      fs::remove(entry->path(), error);
      if (error) break;
    }
    if (error == std::errc::no_such_file_or_directory) error.clear();
  }
  if (!error) return Status::ok();
  return Status(Code::kIo, "usage_forget",
                "The usage history in " + (dataFolder / "usage").string() + " cannot be deleted (" + error.message() +
                    "). Delete the files there yourself.");
}

}  // namespace colibri
