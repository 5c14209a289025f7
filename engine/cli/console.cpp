#include "cli/console.h"

#include "base/words.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <system_error>

namespace colibri {
namespace {

OrderedJson detailJson(const std::string& detail) {
  OrderedJson object = OrderedJson::object();
  if (detail.empty()) return object;
  for (const std::string& word : splitWords(detail, " ")) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0) return {{"text", detail}};
    const std::string value = word.substr(equals + 1);
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error == std::errc() && end == value.data() + value.size()) {
      object[word.substr(0, equals)] = number;
    } else {
      object[word.substr(0, equals)] = value;
    }
  }
  return object;
}

Status readProblem(const std::string& name, const std::string& why) {
  std::string message = name;
  return Status(Code::kIo, "read_failed", message.append(" cannot be read: ").append(why).append("."));
}

}  // namespace

std::string jsonText(const OrderedJson& json, int indent) {
  return json.dump(indent, ' ', false, OrderedJson::error_handler_t::replace);
}

void printJson(Console& console, const OrderedJson& json) {
  console.out << jsonText(json) << '\n' << std::flush;
}

Result<std::string> readInput(Console& console, const std::filesystem::path& path, std::size_t maxBytes) {
  const std::string name = path == "-" ? std::string("Standard input") : path.string();
  std::ifstream file;
  if (path != "-") {
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) return readProblem(name, "it is a folder");
    file.open(path, std::ios::binary);
    if (!file) return readProblem(name, std::strerror(errno));
  }
  std::istream& stream = path == "-" ? console.in : file;
  std::string bytes;
  std::string piece(std::size_t{1} << 16, '\0');
  while (stream) {
    stream.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    bytes.append(piece, 0, static_cast<std::size_t>(stream.gcount()));
    if (bytes.size() > maxBytes) {
      return readProblem(name, "it has more than " + std::to_string(maxBytes) + " bytes");
    }
  }
  if (stream.bad()) return readProblem(name, std::strerror(errno));
  return bytes;
}

Result<Json> readJsonInput(Console& console, const std::filesystem::path& path, std::size_t maxBytes) {
  COLIBRI_ASSIGN_OR_RETURN(const std::string text, readInput(console, path, maxBytes));
  Result<Json> json = parseJson(text, path == "-" ? "Standard input" : path.string(), "bad_json", {maxBytes, 256});
  if (!json) return Status(Code::kUsage, "bad_json", json.status().message());
  return json;
}

OrderedJson errorJson(const Status& status) {
  return {{"error", {{"code", status.id()}, {"message", status.message()}, {"detail", detailJson(status.detail())}}}};
}

}  // namespace colibri
