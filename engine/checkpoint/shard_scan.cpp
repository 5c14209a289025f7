#include "checkpoint/shard_scan.h"

#include "base/json.h"
#include "checkpoint/header.h"
#include "checkpoint/json_cursor.h"

#include <algorithm>
#include <cstdint>
#include <system_error>
#include <utility>

namespace colibri {
namespace {

constexpr std::uint64_t kMaxTensors = 1000000;

class Scan {
public:
  Scan(const std::filesystem::path& folder, std::span<const std::filesystem::path> moreFolders, const FindingSink& sink)
      : m_folder(folder), m_moreFolders(moreFolders), m_sink(sink) {}

  ShardScan run() {
    const std::vector<std::string> names = shardNames();
    m_scan.wantedShards = names.size();
    locate(names);
    readHeaders(names);
    sortTensors();
    if (m_hasIndex) compareWithIndex();
    m_scan.namesKnown = m_hasIndex || m_scan.shards.size() == names.size();
    return std::move(m_scan);
  }

private:
  // The index's files; without an index the single file; without either whatever is there, so that it can be checked at
  // all.
  std::vector<std::string> shardNames() {
    std::error_code error;
    const std::filesystem::path indexPath = m_folder / kIndexName;
    const bool single = std::filesystem::exists(m_folder / kSingleName, error);
    if (std::filesystem::exists(std::filesystem::symlink_status(indexPath, error))) {
      if (readIndex(indexPath)) return m_index.files;
    } else if (!single) {
      m_sink(
          makeFinding("missing_index", kIndexName, {},
                      std::string(kIndexName) + " is missing, and there is no " + std::string(kSingleName) + " either.",
                      "Download the index file, or choose the folder that holds the whole checkpoint."));
    }
    if (single) return {std::string(kSingleName)};
    return present();
  }

  bool readIndex(const std::filesystem::path& path) {
    const auto text = readFile(path, kMaxIndexBytes);
    if (!text) {
      const bool missing = text.status().id() == "missing_file";
      m_sink(makeFinding(missing ? "missing_index" : "index_mismatch", kIndexName, {},
                         std::string(kIndexName) + (missing ? " is a link to a file that is not there."
                                                            : " cannot be read: " + text.status().message()),
                         "Download the index file again."));
      return false;
    }
    auto index = parseIndex(*text);
    if (!index) {
      m_sink(makeFinding("index_mismatch", kIndexName, {}, index.status().message(), "Download the index file again."));
      return false;
    }
    m_index = std::move(*index);
    m_hasIndex = true;
    return true;
  }

  std::vector<std::string> present() const {
    std::vector<std::string> names;
    std::error_code error;
    for (std::filesystem::directory_iterator it(m_folder, error), end; !error && it != end; it.increment(error)) {
      std::string name = it->path().filename().string();
      if (isPlainShardName(name)) names.push_back(std::move(name));
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  void locate(const std::vector<std::string>& names) {
    std::vector<std::pair<std::size_t, std::string>> missing;
    for (std::size_t i = 0; i < names.size(); ++i) {
      std::string why;
      m_places.push_back(locateShard(m_folder, m_moreFolders, names[i], why));
      if (m_places.back().path.empty()) missing.emplace_back(i, std::move(why));
    }
    std::vector<std::uint64_t> held(names.size(), 0);
    for (const IndexEntry& entry : m_index.entries) ++held[entry.file];
    for (const auto& [i, why] : missing) {
      Finding finding = makeFinding(
          "missing_shard", names[i], {},
          why + " (" + std::to_string(missing.size()) + " of " + std::to_string(names.size()) + " shards missing).",
          "Run the download again, or name the folder that holds it.");
      if (m_hasIndex) finding.tensors = held[i];
      m_sink(std::move(finding));
    }
  }

  void readHeaders(const std::vector<std::string>& names) {
    m_read.assign(names.size(), false);
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (m_places[i].path.empty()) continue;
      ShardHeader header = readShardHeader(m_places[i].path, names[i], m_sink);
      if (!header.parsed) continue;
      if (m_scan.tensors.size() + header.tensors.size() > kMaxTensors) {
        m_sink(makeFinding("bad_header", names[i], {}, "The shards list more than a million tensors."));
        break;
      }
      m_read[i] = true;
      const auto shard = static_cast<std::uint32_t>(m_scan.shards.size());
      m_fileOfShard.push_back(static_cast<std::uint32_t>(i));
      m_scan.shards.push_back({names[i], m_places[i].path, header.fileBytes, header.headerBytes, m_places[i].folder});
      for (TensorInfo& tensor : header.tensors) {
        tensor.shard = shard;
        m_scan.tensors.push_back(std::move(tensor));
      }
    }
  }

  void sortTensors() {
    auto& tensors = m_scan.tensors;
    std::sort(tensors.begin(), tensors.end(), [](const TensorInfo& a, const TensorInfo& b) {
      const int order = a.name.compare(b.name);
      return order != 0 ? order < 0 : a.shard < b.shard;
    });
    std::size_t kept = 0;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (kept > 0 && tensors[kept - 1].name == tensors[i].name) {
        reportTwice(tensors[kept - 1], tensors[i]);
        continue;
      }
      if (kept != i) tensors[kept] = std::move(tensors[i]);
      ++kept;
    }
    tensors.resize(kept);
  }

  void reportTwice(const TensorInfo& a, const TensorInfo& b) {
    const std::string& second = m_scan.shards[b.shard].name;
    m_sink(makeFinding("index_mismatch", second, b.name,
                       "Tensor " + inQuotes(b.name) + " is in two shards: " +
                           printable(m_scan.shards[a.shard].name, 300) + " and " + printable(second, 300) + ".",
                       "Download both shards again."));
  }

  void compareWithIndex() {
    std::uint64_t total = 0;
    std::uint64_t unlisted = 0;
    std::string firstUnlisted;
    std::string firstFile;
    auto entry = m_index.entries.begin();
    for (const TensorInfo& tensor : m_scan.tensors) {
      total += tensor.bytes;
      for (; entry != m_index.entries.end() && entry->tensor < tensor.name; ++entry) unmatched(*entry);
      if (entry == m_index.entries.end() || entry->tensor != tensor.name) {
        if (unlisted++ == 0) {
          firstUnlisted = tensor.name;
          firstFile = m_scan.shards[tensor.shard].name;
        }
        continue;
      }
      if (entry->file != m_fileOfShard[tensor.shard] && m_read[entry->file]) {
        m_sink(makeFinding("index_mismatch", kIndexName, tensor.name,
                           "The index places tensor \"" + printable(tensor.name) + "\" in " +
                               printable(m_index.files[entry->file], 300) + ", but it is in " +
                               printable(m_scan.shards[tensor.shard].name, 300) + ".",
                           "Download the index file and this shard again."));
      }
      ++entry;
    }
    for (; entry != m_index.entries.end(); ++entry) unmatched(*entry);
    if (unlisted > 0) {
      Finding finding = makeWarning("index_mismatch", firstFile, firstUnlisted,
                                    counted(unlisted, "tensor") + " in the shards " + (unlisted == 1 ? "is" : "are") +
                                        " not in the index; the first is \"" + printable(firstUnlisted) + "\".");
      finding.tensors = unlisted;
      m_sink(std::move(finding));
    }
    const bool complete = std::find(m_read.begin(), m_read.end(), false) == m_read.end();
    if (complete && m_index.totalSize && *m_index.totalSize != static_cast<double>(total)) {
      Finding finding =
          makeWarning("index_mismatch", kIndexName, {},
                      "The index states " +
                          std::to_string(static_cast<long long>(std::min(std::max(*m_index.totalSize, 0.0), 9e18))) +
                          " bytes in all, the shards hold " + std::to_string(total) + ".");
      finding.actualBytes = total;
      m_sink(std::move(finding));
    }
  }

  void unmatched(const IndexEntry& entry) {
    if (!m_read[entry.file]) {
      m_scan.unread.push_back(entry);
      return;
    }
    m_sink(makeFinding("index_mismatch", m_index.files[entry.file], entry.tensor,
                       "The index places tensor \"" + printable(entry.tensor) + "\" in " +
                           printable(m_index.files[entry.file], 300) + ", but it is not there.",
                       "Download the index file and this shard again."));
  }

  const std::filesystem::path& m_folder;
  std::span<const std::filesystem::path> m_moreFolders;
  const FindingSink& m_sink;
  bool m_hasIndex = false;
  IndexFile m_index;
  std::vector<ShardPlace> m_places;          // by file
  std::vector<bool> m_read;                  // by file: header parsed
  std::vector<std::uint32_t> m_fileOfShard;  // by shard
  ShardScan m_scan;
};

}  // namespace

ShardScan scanShards(const std::filesystem::path& folder, std::span<const std::filesystem::path> moreFolders,
                     const FindingSink& sink) {
  return Scan(folder, moreFolders, sink).run();
}

}  // namespace colibri
