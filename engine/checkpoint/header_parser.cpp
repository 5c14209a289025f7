#include "checkpoint/dtype.h"
#include "checkpoint/header.h"
#include "checkpoint/json_cursor.h"

#include <algorithm>
#include <string>
#include <utility>

namespace colibri {
namespace {

constexpr std::uint64_t kMaxValue = 0x7fffffffffffffffULL;

bool multiply(std::uint64_t a, std::uint64_t b, std::uint64_t& out) {
  return !__builtin_mul_overflow(a, b, &out) && out <= kMaxValue;
}

class Parser {
public:
  Parser(std::string_view json, const HeaderLimits& limits) : m_cursor(json), m_limits(limits) {}

  bool run(std::vector<TensorInfo>& tensors) {
    if (!m_cursor.expect('{')) return false;
    if (!m_cursor.consume('}')) {
      do {
        if (!m_cursor.string(m_name, m_limits.maxNameBytes) || !m_cursor.expect(':')) return false;
        if (m_name == "__metadata__") {
          if (!metadata()) return false;
          continue;
        }
        if (tensors.size() >= m_limits.maxTensors) {
          return m_cursor.fail("it lists more than " + std::to_string(m_limits.maxTensors) + " tensors");
        }
        TensorInfo tensor;
        if (!checkName() || !entry(tensor)) return false;
        tensor.name = m_name;
        tensors.push_back(std::move(tensor));
      } while (m_cursor.consume(','));
      if (!m_cursor.expect('}')) return false;
    }
    if (!m_cursor.atEnd()) return m_cursor.fail("something stands after the header's object");
    return noDuplicates(tensors);
  }

  [[nodiscard]] const std::string& error() const { return m_cursor.error(); }
  /// Tensor that was being read, for the message.
  [[nodiscard]] const std::string& name() const { return m_name; }

private:
  bool checkName() {
    if (m_name.empty()) return m_cursor.fail("a tensor has an empty name");
    for (const char c : m_name) {
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
        return m_cursor.fail("a tensor's name contains a control character");
      }
    }
    return true;
  }

  bool metadata() {
    if (m_hasMetadata) return m_cursor.fail("__metadata__ stands twice");
    m_hasMetadata = true;
    const std::size_t start = m_cursor.position();
    if (!m_cursor.expect('{')) return false;
    if (m_cursor.consume('}')) return true;
    std::vector<std::string> keys;
    std::string key;
    std::string value;
    do {
      if (!m_cursor.string(key, m_limits.maxMetadataBytes) || !m_cursor.expect(':') ||
          !m_cursor.string(value, m_limits.maxMetadataBytes)) {
        return false;
      }
      if (m_cursor.position() - start > m_limits.maxMetadataBytes) {
        return m_cursor.fail("__metadata__ is longer than " + std::to_string(m_limits.maxMetadataBytes) + " bytes");
      }
      keys.push_back(key);
    } while (m_cursor.consume(','));
    if (!m_cursor.expect('}')) return false;
    std::sort(keys.begin(), keys.end());
    const auto twice = std::adjacent_find(keys.begin(), keys.end());
    return twice == keys.end() || m_cursor.fail("__metadata__ has the key \"" + printable(*twice) + "\" twice");
  }

  bool entry(TensorInfo& tensor) {
    if (!m_cursor.expect('{')) return false;
    bool hasDtype = false;
    bool hasShape = false;
    bool hasOffsets = false;
    std::uint64_t end = 0;
    m_unknown.clear();
    if (!m_cursor.consume('}')) {
      do {
        if (!m_cursor.string(m_key, m_limits.maxNameBytes) || !m_cursor.expect(':')) return false;
        bool good = false;
        if (m_key == "dtype") {
          good = once(hasDtype) && dtype(tensor);
        } else if (m_key == "shape") {
          good = once(hasShape) && shape(tensor);
        } else if (m_key == "data_offsets") {
          good = once(hasOffsets) && offsets(tensor.offset, end);
        } else {
          good = unknown();
        }
        if (!good) return false;
      } while (m_cursor.consume(','));
      if (!m_cursor.expect('}')) return false;
    }
    if (!hasDtype || !hasShape || !hasOffsets) {
      return m_cursor.fail(std::string("the key \"") +
                           (!hasDtype   ? "dtype"
                            : !hasShape ? "shape"
                                        : "data_offsets") +
                           "\" is missing");
    }
    if (end < tensor.offset) {
      return m_cursor.fail("data_offsets ends at " + std::to_string(end) + ", before its begin " +
                           std::to_string(tensor.offset));
    }
    tensor.bytes = end - tensor.offset;
    return checkSize(tensor);
  }

  bool once(bool& seen) {
    if (seen) return m_cursor.fail("the key \"" + printable(m_key) + "\" stands twice in one tensor");
    seen = true;
    return true;
  }

  bool unknown() {
    constexpr std::size_t kMaxUnknown = 16;
    if (std::find(m_unknown.begin(), m_unknown.end(), m_key) != m_unknown.end()) {
      return m_cursor.fail("the key \"" + printable(m_key) + "\" stands twice in one tensor");
    }
    if (m_unknown.size() == kMaxUnknown) return m_cursor.fail("a tensor has too many unknown keys");
    m_unknown.push_back(m_key);
    return m_cursor.skipValue(/*maxDepth=*/2, /*maxBytes=*/4096);
  }

  bool dtype(TensorInfo& tensor) {
    std::string word;
    if (!m_cursor.string(word, 64)) return false;
    const auto known = dtypeFromName(word);
    if (!known) {
      return m_cursor.fail("the dtype \"" + printable(word) +
                           "\" is unknown; the file may come from a newer version of the format");
    }
    tensor.dtype = *known;
    return true;
  }

  bool shape(TensorInfo& tensor) {
    if (!m_cursor.expect('[')) return false;
    if (m_cursor.consume(']')) return true;
    do {
      std::uint64_t dimension = 0;
      if (!m_cursor.natural(dimension)) return false;
      if (tensor.shape.size() == m_limits.maxRank) {
        return m_cursor.fail("a shape has more than " + std::to_string(m_limits.maxRank) + " dimensions");
      }
      tensor.shape.push_back(dimension);
    } while (m_cursor.consume(','));
    return m_cursor.expect(']');
  }

  bool offsets(std::uint64_t& begin, std::uint64_t& end) {
    return m_cursor.expect('[') && m_cursor.natural(begin) && m_cursor.expect(',') && m_cursor.natural(end) &&
           m_cursor.expect(']');
  }

  bool checkSize(const TensorInfo& tensor) {
    // Zero dimensions do not excuse an overflow of the others.
    std::uint64_t nonZero = 1;
    bool empty = false;
    for (const std::uint64_t dimension : tensor.shape) {
      empty = empty || dimension == 0;
      if (dimension != 0 && !multiply(nonZero, dimension, nonZero))
        return m_cursor.fail("the shape's product overflows");
    }
    std::uint64_t bits = 0;
    if (!multiply(nonZero, dtypeBits(tensor.dtype), bits)) return m_cursor.fail("the tensor's size overflows");
    if (empty) bits = 0;
    if (bits % 8 != 0) return m_cursor.fail("the tensor does not end at a whole byte");
    if (bits / 8 != tensor.bytes) {
      return m_cursor.fail("the shape needs " + std::to_string(bits / 8) + " bytes, data_offsets give " +
                           std::to_string(tensor.bytes));
    }
    return true;
  }

  bool noDuplicates(const std::vector<TensorInfo>& tensors) {
    std::vector<std::string_view> names;
    names.reserve(tensors.size());
    for (const TensorInfo& tensor : tensors) names.emplace_back(tensor.name);
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice == names.end()) return true;
    m_name = std::string(*twice);
    return m_cursor.fail("the name stands twice");
  }

  JsonCursor m_cursor;
  HeaderLimits m_limits;
  std::string m_name;
  std::string m_key;
  std::vector<std::string> m_unknown;
  bool m_hasMetadata = false;
};

}  // namespace

Result<std::vector<TensorInfo>> parseHeader(std::string_view json, std::string_view file, const HeaderLimits& limits) {
  std::vector<TensorInfo> tensors;
  Parser parser(json, limits);
  if (parser.run(tensors)) return tensors;
  std::string message = printable(file, 300) + " has a damaged header: " + parser.error();
  if (!parser.name().empty()) message += ", at tensor \"" + printable(parser.name()) + "\"";
  return Status(Code::kCheckpoint, "bad_header", message + ".", printable(parser.name()));
}

}  // namespace colibri
