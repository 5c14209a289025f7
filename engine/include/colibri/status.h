#pragma once
// Errors as values. A Status says what happened, why and what to do, in words; a Result<T> is a value or such a Status.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace colibri {

/// Kind of an error. `coli` turns it into its exit code, the app into the banner's button.
enum class Code {
  kOk,
  kFindings,     ///< a check found differences (exit 1)
  kUsage,        ///< a wrong option or call (exit 2)
  kUnavailable,  ///< an option that cannot take effect here (exit 2)
  kCheckpoint,   ///< checkpoint missing, damaged or not supported (exit 3)
  kMemory,       ///< does not fit the memory budget (exit 4)
  kIo,           ///< read or write error (exit 5)
  kNetwork,      ///< network or hub (exit 6)
  kCancelled,    ///< cancelled by the user (exit 130)
  kInternal,     ///< a broken invariant of Colibri itself (exit 70)
};

/// Outcome of an operation. `id` is a short stable word for programs ("missing_shard"), `message` a sentence for
/// people.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(Code code, std::string id, std::string message, std::string detail = {}, bool retryable = false)
      : m_code(code),
        m_id(std::move(id)),
        m_message(std::move(message)),
        m_detail(std::move(detail)),
        m_retryable(retryable) {}

  static Status ok() { return {}; }

  [[nodiscard]] bool isOk() const { return m_code == Code::kOk; }
  [[nodiscard]] Code code() const { return m_code; }
  [[nodiscard]] const std::string& id() const { return m_id; }
  [[nodiscard]] const std::string& message() const { return m_message; }
  /// Further facts for a log or a tooltip; may be empty.
  [[nodiscard]] const std::string& detail() const { return m_detail; }
  [[nodiscard]] bool retryable() const { return m_retryable; }

  /// The same error with a sentence of context in front of it.
  [[nodiscard]] Status within(std::string_view context) const {
    Status copy = *this;
    copy.m_message = std::string(context) + ": " + m_message;
    return copy;
  }

private:
  Code m_code = Code::kOk;
  std::string m_id;
  std::string m_message;
  std::string m_detail;
  bool m_retryable = false;
};

/// A value or the Status that explains why there is none. Reading the value of a failed Result is a programming error.
template <typename T>
class [[nodiscard]] Result {
public:
  Result(T value) : m_state(std::move(value)) {}         // NOLINT(google-explicit-constructor)
  Result(Status status) : m_state(std::move(status)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool isOk() const { return std::holds_alternative<T>(m_state); }
  explicit operator bool() const { return isOk(); }
  [[nodiscard]] Status status() const { return isOk() ? Status() : std::get<Status>(m_state); }

  [[nodiscard]] T& value() & { return std::get<T>(m_state); }
  [[nodiscard]] const T& value() const& { return std::get<T>(m_state); }
  [[nodiscard]] T&& value() && { return std::get<T>(std::move(m_state)); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }

private:
  std::variant<T, Status> m_state;
};

}  // namespace colibri

/// Returns the Status of `expr` from the current function when it is an error.
#define COLIBRI_RETURN_IF_ERROR(expr)                                                          \
  do {                                                                                         \
    if (::colibri::Status colibriStatus = (expr); !colibriStatus.isOk()) return colibriStatus; \
  } while (false)

#define COLIBRI_CONCAT_INNER(a, b) a##b
#define COLIBRI_CONCAT(a, b) COLIBRI_CONCAT_INNER(a, b)
/// `COLIBRI_ASSIGN_OR_RETURN(auto x, f());` takes the value of a Result or returns its Status.
#define COLIBRI_ASSIGN_OR_RETURN(lhs, expr)                                                                     \
  auto COLIBRI_CONCAT(colibriResult, __LINE__) = (expr);                                                        \
  if (!COLIBRI_CONCAT(colibriResult, __LINE__).isOk()) return COLIBRI_CONCAT(colibriResult, __LINE__).status(); \
  lhs = std::move(COLIBRI_CONCAT(colibriResult, __LINE__)).value()
