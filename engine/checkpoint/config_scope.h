#pragma once
// Looking keys of a parsed config.json up, in both spellings, nested or flat; every value checked before it is used.

#include "base/json_fwd.h"
#include "checkpoint/config_keys.h"
#include <colibri/status.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace colibri {

/// kCheckpoint "config_invalid" or "unsupported_model" about config.json, `why` a sentence without the file's name.
[[nodiscard]] Status configInvalid(const std::string& why);
[[nodiscard]] Status configUnsupported(const std::string& why);

/// `value` as JSON, short and harmless for a terminal.
[[nodiscard]] std::string shortText(const Json& value);
/// "hub (or vendor)", or "hub" alone when the spelling is the same.
[[nodiscard]] std::string bothNames(std::string_view hub, std::string_view vendor);
/// `value` when it is a whole number from `least` to `most` (each below 2^53 in size), written with or without ".0".
[[nodiscard]] std::optional<std::int64_t> wholeNumber(const Json& value, std::int64_t least, std::int64_t most);

class ConfigScope {
public:
  /// `root` must outlive this object and be an object.
  explicit ConfigScope(const Json& root);

  /// Which keys with a condition are required; readTable() asks.
  void setFamily(ModelFamily family) { m_family = family; }
  [[nodiscard]] ModelFamily family() const { return m_family; }

  /// Value of `key` ("a" or "a.b") in text_config, else at the root; nullptr when absent or null.
  [[nodiscard]] const Json* find(std::string_view key) const;
  [[nodiscard]] const Json* findRoot(const std::string& key) const;
  /// Value under either spelling, nullptr when neither is there; both at once are fine only when they agree.
  Status lookUp(std::string_view hub, std::string_view vendor, const Json*& value) const;

  /// Puts every key of `table` into `target`; absent optional ones leave it as it is.
  template <class Key, class Target, std::size_t kCount>
  Status readTable(const std::array<Key, kCount>& table, Target& target) const {
    for (const Key& key : table) COLIBRI_RETURN_IF_ERROR(read(key, target.*key.member));
    return Status::ok();
  }
  Status checkFixed(const FixedKey& key) const;
  /// A list of at most `mostEntries` whole numbers from `least` to `most`. `there` says whether the key exists; `list`
  /// is left empty when it does not.
  Status readList(std::string_view hub, std::string_view vendor, std::int64_t least, std::int64_t most,
                  std::size_t mostEntries, std::vector<std::int64_t>& list, bool& there) const;
  /// A list of layers of the main stack, strictly ascending.
  Status readLayers(std::string_view hub, std::string_view vendor, int layers, bool required,
                    std::vector<int>& list) const;
  /// A token below `vocabSize`; the first of a list, as some tools write for stop tokens. Absent: `token` stays.
  Status readToken(std::string_view hub, std::string_view vendor, int vocabSize, TokenId& token) const;

  [[nodiscard]] static Status missing(std::string_view hub, std::string_view vendor);

private:
  template <class Target, class Number>
  Status read(const NumberKey<Target, Number>& key, Number& number) const {
    return readNumber(key.names, static_cast<double>(key.least), static_cast<double>(key.most), number);
  }
  Status readNumber(const KeyNames& names, double least, double most, int& number) const;
  Status readNumber(const KeyNames& names, double least, double most, std::int64_t& number) const;
  Status readNumber(const KeyNames& names, double least, double most, double& number) const;
  template <class Whole>
  Status readWhole(const KeyNames& names, double least, double most, Whole& number) const;
  [[nodiscard]] bool isRequired(Presence presence) const;

  const Json& m_root;
  const Json* m_text = nullptr;
  bool m_vendorSpelling = false;
  ModelFamily m_family = ModelFamily::kDeepSeekV4;
};

}  // namespace colibri
