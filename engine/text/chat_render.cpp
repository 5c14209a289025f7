#include "text/chat_render.h"

#include "text/chat_options.h"
#include "text/chat_steps.h"
#include "text/dsml.h"
#include "text/prompt_constants.h"
#include "text/segment_writer.h"

#include <array>
#include <utility>

namespace colibri {
namespace {

constexpr std::string_view kBlank = "\n\n";
constexpr std::array<std::string_view, 6> kTasks{"action", "query", "authority", "domain", "title", "read_url"};

class PromptWriter {
public:
  PromptWriter(const EncoderRequest& request, Dialect dialect, bool dropping)
      : m_messages(request.messages),
        m_request(request),
        m_dialect(dialect),
        m_dropping(dropping),
        m_lastUser(lastUserIndex(request.messages, dialect)) {}

  Result<Prompt> write() {
    if (m_request.addBegin) m_out.control(prompt::kBegin);
    std::string effort;
    if (m_request.thinking) {
      COLIBRI_ASSIGN_OR_RETURN(effort, effortText(m_request.effort, m_dialect));
    }
    for (std::size_t i = 0; i < m_messages.size(); ++i) {
      if (i == 0) prefix(effort);
      body(i);
      COLIBRI_RETURN_IF_ERROR(transition(i));
    }
    Prompt made;
    made.segments = m_out.take();
    for (const TextSegment& segment : made.segments) made.text += segment.text;
    made.images = std::move(m_images);
    made.startsInReasoning = !made.segments.empty() && made.segments.back().control &&
                             made.segments.back().text.ends_with(prompt::kThinkOpen);
    return made;
  }

private:
  void prefix(std::string_view effort) {
    const bool system = m_messages.front().role == ChatRole::kSystem;
    if (m_dialect == Dialect::kC && (system || !effort.empty())) m_out.control(prompt::kSystem);
    m_out.control(effort);
  }

  void body(std::size_t i) {
    const EncoderMessage& message = m_messages[i];
    switch (message.role) {
      case ChatRole::kSystem:
        if (m_dialect == Dialect::kC && i > 0) m_out.control(prompt::kSystem);
        content(message);
        toolsAndFormat(message);
        return;
      case ChatRole::kDeveloper:
        m_out.control(prompt::kUser);
        content(message);
        toolsAndFormat(message);
        return;
      case ChatRole::kUser:
      case ChatRole::kTool:
        m_out.control(prompt::kUser);
        content(message);
        return;
      case ChatRole::kReminder:
        m_out.control(prompt::kReminder);
        content(message);
        return;
      case ChatRole::kAssistant:
        assistant(i);
        return;
    }
  }

  void assistant(std::size_t i) {
    const EncoderMessage& message = m_messages[i];
    const bool afterTask = i > 0 && !m_messages[i - 1].task.empty();
    if (m_request.thinking && !afterTask && (!m_dropping || static_cast<std::ptrdiff_t>(i) > m_lastUser)) {
      m_out.literal(message.reasoning);
      m_out.control(prompt::kThinkClose);
    }
    content(message);
    if (!message.calls.empty()) {
      m_out.control(kBlank);
      writeCalls(message.calls, m_dialect, m_out);
    }
    if (!message.withoutEnd) m_out.control(prompt::kEnd);
  }

  void content(const EncoderMessage& message) {
    for (std::size_t i = 0; i < message.blocks.size(); ++i) {
      const ContentBlock& block = message.blocks[i];
      if (i > 0) m_out.literal(kBlank);
      if (block.toolResult) m_out.control(prompt::kToolResultOpen);
      m_out.append(block.segments);
      if (block.toolResult) m_out.control(prompt::kToolResultClose);
      m_images.insert(m_images.end(), block.images.begin(), block.images.end());
    }
  }

  void toolsAndFormat(const EncoderMessage& message) {
    if (!message.tools.empty()) {
      std::string schemas;
      for (const ChatJson& function : message.tools) {
        if (!schemas.empty()) schemas += '\n';
        schemas += function.dump();
      }
      m_out.control(kBlank);
      m_out.controlWithSlot(m_dialect == Dialect::kC ? prompt::kToolsBlockV41 : prompt::kToolsBlockV4,
                            prompt::kToolsSlot, schemas);
    }
    if (!message.responseFormat.isNull()) {
      m_out.control(kBlank);
      m_out.controlWithSlot(prompt::kResponseFormat, prompt::kFormatSlot, message.responseFormat.dump());
    }
  }

  // What stands between this message and the next speaker: the header of the model's turn, or a task.
  Status transition(std::size_t i) {
    const EncoderMessage& message = m_messages[i];
    const bool last = i + 1 == m_messages.size();
    if (last && !m_request.addGenerationPrompt) return Status::ok();
    if (!last && m_messages[i + 1].role != ChatRole::kAssistant && m_messages[i + 1].role != ChatRole::kReminder) {
      return Status::ok();
    }
    if (!message.task.empty()) return task(message.task);
    if (!countsAsUser(message, i, m_dialect)) return Status::ok();
    header(m_request.thinking && (!m_dropping || static_cast<std::ptrdiff_t>(i) >= m_lastUser));
    return Status::ok();
  }

  Status task(const std::string& name) {
    bool known = false;
    for (const std::string_view task : kTasks) known = known || task == name;
    if (!known) {
      return {Code::kUsage, "invalid_task",
              "The task \"" + name + "\" is not one of action, query, authority, domain, title, read_url."};
    }
    if (name == "action") header(m_request.thinking);
    m_out.control("<｜" + name + "｜>");
    return Status::ok();
  }

  void header(bool thinking) {
    m_out.control(prompt::kAssistant);
    m_out.control(thinking ? prompt::kThinkOpen : prompt::kThinkClose);
  }

  const std::vector<EncoderMessage>& m_messages;
  const EncoderRequest& m_request;
  Dialect m_dialect;
  bool m_dropping;
  std::ptrdiff_t m_lastUser;
  SegmentWriter m_out;
  std::vector<std::string> m_images;
};

}  // namespace

Result<Prompt> writePrompt(EncoderRequest request, Dialect dialect) {
  bool anyTools = false;
  for (const EncoderMessage& message : request.messages) anyTools = anyTools || !message.tools.empty();
  request.messages = mergeUserMessages(std::move(request.messages));
  orderToolResults(request.messages);
  const bool dropping = request.thinking && request.dropThinking && !anyTools;
  if (dropping) request.messages = dropOldReasoning(std::move(request.messages), dialect);
  return PromptWriter(request, dialect, dropping).write();
}

}  // namespace colibri
