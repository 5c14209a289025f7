#include "base/json.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <vector>

namespace colibri {
namespace {

// Walks the text once without building anything, so that a hostile file is refused before it costs memory.
class Guard : public nlohmann::json_sax<Json> {
public:
  explicit Guard(int maxDepth) : m_maxDepth(maxDepth) {}

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override {
    m_keys.emplace_back();
    return enter();
  }
  bool key(string_t& name) override {
    if (m_keys.back().insert(name).second) return true;
    m_error = "the key \"" + name.substr(0, 80) + "\" stands twice in one object";
    return false;
  }
  bool end_object() override {
    m_keys.pop_back();
    --m_depth;
    return true;
  }
  bool start_array(std::size_t) override { return enter(); }
  bool end_array() override {
    --m_depth;
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& e) override {
    (void)e;
    m_error = "not valid JSON near byte " + std::to_string(position);
    return false;
  }
  [[nodiscard]] const std::string& error() const { return m_error; }

private:
  bool enter() {
    if (++m_depth <= m_maxDepth) return true;
    m_error = "nested deeper than " + std::to_string(m_maxDepth) + " levels";
    return false;
  }

  int m_maxDepth;
  int m_depth = 0;
  std::vector<std::set<std::string>> m_keys;
  std::string m_error;
};

}  // namespace

Result<Json> parseJson(std::string_view text, std::string_view what, std::string_view id, JsonLimits limits) {
  const auto refuse = [&](const std::string& why) {
    return Status(Code::kCheckpoint, std::string(id), std::string(what) + " cannot be read: " + why + ".");
  };
  if (text.size() > limits.maxBytes) {
    return refuse("it has " + std::to_string(text.size()) + " bytes, more than the limit of " +
                  std::to_string(limits.maxBytes));
  }
  Guard guard(limits.maxDepth);
  if (!Json::sax_parse(text.begin(), text.end(), &guard)) {
    return refuse(guard.error().empty() ? "not valid JSON" : guard.error());
  }
  Json value = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) return refuse("not valid JSON");
  return value;
}

Result<std::string> readFile(const std::filesystem::path& path, std::size_t maxBytes) {
  std::error_code error;
  const auto kind = std::filesystem::status(path, error);
  if (error || !std::filesystem::exists(kind)) {
    return Status(Code::kIo, "missing_file", path.string() + " does not exist.");
  }
  if (!std::filesystem::is_regular_file(kind)) {
    return Status(Code::kIo, "not_a_file", path.string() + " is not a regular file.");
  }
  const auto size = std::filesystem::file_size(path, error);
  if (error) return Status(Code::kIo, "read_failed", path.string() + " cannot be read: " + error.message() + ".");
  if (size > maxBytes) {
    return Status(Code::kIo, "file_too_large",
                  path.string() + " has " + std::to_string(size) + " bytes; more than " + std::to_string(maxBytes) +
                      " is not expected.");
  }
  std::ifstream in(path, std::ios::binary);
  std::string bytes(static_cast<std::size_t>(size), '\0');
  if (!in || !in.read(bytes.data(), static_cast<std::streamsize>(size))) {
    return Status(Code::kIo, "read_failed", path.string() + " cannot be read: " + std::strerror(errno) + ".");
  }
  return bytes;
}

}  // namespace colibri
