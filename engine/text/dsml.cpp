#include "text/dsml.h"

#include <string>

namespace colibri {
namespace {

// The arguments as an object. Text that is none becomes one string parameter named "arguments".
ChatJson argumentsObject(const ChatJson& arguments, Dialect dialect) {
  if (arguments.isObject()) return arguments;
  const std::string raw = arguments.isString() ? arguments.text() : arguments.dump();
  auto parsed = ChatJson::parse(raw);
  // V4.1's encoder unwraps JSON that was encoded twice.
  if (parsed && parsed->isString() && dialect == Dialect::kC) parsed = ChatJson::parse(std::string(parsed->text()));
  if (parsed && parsed->isObject()) return std::move(*parsed);
  ChatJson fallback = ChatJson::object();
  fallback.append("arguments", ChatJson::string(raw));
  return fallback;
}

class CallWriter {
public:
  CallWriter(const DsmlNames& names, SegmentWriter& writer) : m_names(names), m_writer(writer) {}

  void open(std::string_view name) { tag("<", name); }
  void close(std::string_view name) { tag("</", name), m_writer.control(">"); }

  void call(std::string_view name, const ChatJson& arguments) {
    open(m_names.call);
    m_writer.control(" name=\"");
    m_writer.literal(name);
    m_writer.control("\">\n");
    for (std::size_t i = 0; i < arguments.members().size(); ++i) {
      if (i > 0) m_writer.control("\n");
      parameter(arguments.members()[i].first, arguments.members()[i].second);
    }
    // Without parameters an empty line stands between the tags.
    m_writer.control("\n");
    close(m_names.call);
  }

private:
  void tag(std::string_view bracket, std::string_view name) {
    m_writer.control(bracket);
    m_writer.control(kDsmlMark);
    m_writer.control(name);
  }

  void parameter(std::string_view key, const ChatJson& value) {
    open(m_names.parameter);
    m_writer.control(" name=\"");
    m_writer.literal(key);
    m_writer.control(value.isString() ? "\" string=\"true\">" : "\" string=\"false\">");
    m_writer.literal(value.isString() ? value.text() : value.dump());
    close(m_names.parameter);
  }

  const DsmlNames& m_names;
  SegmentWriter& m_writer;
};

}  // namespace

void writeCalls(const std::vector<HistoricCall>& calls, Dialect dialect, SegmentWriter& writer) {
  const DsmlNames& names = dsmlNames(dialect);
  CallWriter markup(names, writer);
  markup.open(names.block);
  writer.control(">\n");
  for (const HistoricCall& call : calls) {
    markup.call(call.name, argumentsObject(call.arguments, dialect));
    writer.control("\n");
  }
  markup.close(names.block);
}

}  // namespace colibri
