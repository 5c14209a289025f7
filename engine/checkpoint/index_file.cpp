#include "checkpoint/index_file.h"

#include "checkpoint/json_cursor.h"

#include <algorithm>
#include <cstdlib>
#include <unordered_map>
#include <utility>

namespace colibri {
namespace {

constexpr std::size_t kMaxEntries = 1000000;
constexpr std::size_t kMaxFiles = 10000;
constexpr std::size_t kMaxKeyBytes = 512;
constexpr std::size_t kMaxMetadataBytes = std::size_t{1} << 20;

class IndexParser {
public:
  explicit IndexParser(std::string_view json) : m_json(json), m_cursor(json) {}

  bool run() {
    if (!m_cursor.expect('{')) return false;
    std::vector<std::string> keys;
    bool hasMap = false;
    if (!m_cursor.consume('}')) {
      do {
        if (!m_cursor.string(m_key, kMaxKeyBytes) || !m_cursor.expect(':')) return false;
        if (std::find(keys.begin(), keys.end(), m_key) != keys.end()) {
          return m_cursor.fail("the key \"" + printable(m_key) + "\" stands twice");
        }
        if (keys.size() == 64) return m_cursor.fail("it has too many keys");
        keys.push_back(m_key);
        if (m_key == "weight_map") {
          hasMap = true;
          if (!weightMap()) return false;
        } else if (m_key == "metadata") {
          if (!metadata()) return false;
        } else if (!m_cursor.skipValue(7, kMaxMetadataBytes)) {
          return false;
        }
      } while (m_cursor.consume(','));
      if (!m_cursor.expect('}')) return false;
    }
    if (!m_cursor.atEnd()) return m_cursor.fail("something stands after its object");
    if (!hasMap) return m_cursor.fail("it has no weight_map");
    return sort();
  }

  IndexFile take() { return std::move(m_index); }
  [[nodiscard]] const std::string& error() const { return m_cursor.error(); }

private:
  bool metadata() {
    if (!m_cursor.expect('{')) return false;
    if (m_cursor.consume('}')) return true;
    do {
      if (!m_cursor.string(m_key, kMaxKeyBytes) || !m_cursor.expect(':')) return false;
      const bool total = m_key == "total_size";
      const std::size_t start = m_cursor.position();
      if (!m_cursor.skipValue(6, kMaxMetadataBytes)) return false;
      if (total) readTotal(start);
    } while (m_cursor.consume(','));
    return m_cursor.expect('}');
  }

  // The value has been checked as JSON already; anything but a number leaves the total unknown.
  void readTotal(std::size_t start) {
    const std::string word(m_json.substr(start, m_cursor.position() - start));
    char* end = nullptr;
    const double value = std::strtod(word.c_str(), &end);
    if (end != word.c_str()) m_index.totalSize = value;
  }

  bool weightMap() {
    if (!m_cursor.expect('{')) return false;
    if (m_cursor.consume('}')) return true;
    std::unordered_map<std::string, std::uint32_t> known;
    std::string file;
    do {
      if (!m_cursor.string(m_key, kMaxKeyBytes) || !m_cursor.expect(':') || !m_cursor.string(file, kMaxKeyBytes))
        return false;
      if (m_key.empty()) return m_cursor.fail("a tensor has an empty name");
      if (m_index.entries.size() == kMaxEntries) return m_cursor.fail("it lists more than a million tensors");
      const auto [place, added] = known.try_emplace(file, static_cast<std::uint32_t>(m_index.files.size()));
      if (added) {
        if (!isPlainShardName(file)) {
          return m_cursor.fail(inQuotes(file) + " is not a plain .safetensors file name");
        }
        if (m_index.files.size() == kMaxFiles) return m_cursor.fail("it names more than 10000 files");
        m_index.files.push_back(file);
      }
      m_index.entries.push_back({m_key, place->second});
    } while (m_cursor.consume(','));
    return m_cursor.expect('}');
  }

  bool sort() {
    std::vector<std::uint32_t> order(m_index.files.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t a, std::uint32_t b) { return m_index.files[a] < m_index.files[b]; });
    std::vector<std::uint32_t> rank(order.size());
    std::vector<std::string> files;
    for (std::size_t i = 0; i < order.size(); ++i) {
      rank[order[i]] = static_cast<std::uint32_t>(i);
      files.push_back(std::move(m_index.files[order[i]]));
    }
    m_index.files = std::move(files);
    for (IndexEntry& entry : m_index.entries) entry.file = rank[entry.file];
    std::sort(m_index.entries.begin(), m_index.entries.end(),
              [](const IndexEntry& a, const IndexEntry& b) { return a.tensor < b.tensor; });
    const auto twice =
        std::adjacent_find(m_index.entries.begin(), m_index.entries.end(),
                           [](const IndexEntry& a, const IndexEntry& b) { return a.tensor == b.tensor; });
    return twice == m_index.entries.end() ||
           m_cursor.fail("the tensor \"" + printable(twice->tensor) + "\" stands twice");
  }

  std::string_view m_json;
  JsonCursor m_cursor;
  IndexFile m_index;
  std::string m_key;
};

}  // namespace

bool isPlainShardName(std::string_view name) {
  constexpr std::string_view kEnding = ".safetensors";
  if (name.size() <= kEnding.size() || name.size() > 255 || name.front() == '.' || !name.ends_with(kEnding))
    return false;
  for (const char c : name) {
    if (c == '/' || c == '\\' || c == ':' || static_cast<unsigned char>(c) < 0x20 || c == 0x7F) return false;
  }
  return name.find("..") == std::string_view::npos;
}

Result<IndexFile> parseIndex(std::string_view json) {
  if (json.size() > kMaxIndexBytes) {
    return Status(Code::kCheckpoint, "index_mismatch",
                  std::string(kIndexName) + " has " + std::to_string(json.size()) + " bytes, more than the limit of " +
                      std::to_string(kMaxIndexBytes) + ".");
  }
  IndexParser parser(json);
  if (parser.run()) return parser.take();
  return Status(Code::kCheckpoint, "index_mismatch",
                std::string(kIndexName) + " cannot be used: " + parser.error() + ".");
}

}  // namespace colibri
