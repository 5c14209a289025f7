// coli chat
#include "cli/answer_json.h"
#include "cli/commands.h"
#include "cli/engine_loader.h"
#include "cli/progress.h"
#include "cli/prompt.h"
#include <colibri/engine.h>
#include <colibri/session.h>

#include <iostream>

namespace colibri {
namespace {

struct Options {
  std::string model;
  GivenSettings given;
};

class TerminalChat {
public:
  TerminalChat(Console& console, const Engine& engine, Session& session, const Settings& settings, Dialect dialect)
      : m_console(console), m_engine(engine), m_session(session), m_settings(settings), m_dialect(dialect) {
    restart();
  }

  Status loop() {
    if (m_console.inIsTerminal) {
      m_console.err << m_engine.model().name
                    << ": type a message; /new starts over, /quit ends, Ctrl-C stops an answer." << std::endl;
    }
    for (std::string text; readLine(text);) {
      if (text.empty()) continue;
      if (text == "/quit" || text == "/exit") break;
      if (text == "/new") {
        restart();
        continue;
      }
      Status status = answer(text);
      if (status.code() == Code::kUsage) {
        // A message that cannot be answered (the context is full) leaves the conversation as it was.
        m_console.err << status.message() << " /new starts over." << std::endl;
      } else if (!status.isOk()) {
        return status;
      }
    }
    return Status::ok();
  }

private:
  void restart() {
    m_messages.clear();
    const std::string system = m_settings.text(Setting::kSystem);
    if (!system.empty()) m_messages.push_back({"system", system, {}});
  }

  bool readLine(std::string& text) {
    if (m_console.inIsTerminal) m_console.err << "\n> " << std::flush;
    return static_cast<bool>(std::getline(m_console.in, text));
  }

  Status answer(const std::string& text) {
    std::vector<ChatMessage> messages = m_messages;
    messages.push_back({"user", text, {}});
    COLIBRI_ASSIGN_OR_RETURN(const Prompt prompt, renderPrompt(messages, chatOptions(m_settings), m_dialect));
    const std::vector<TokenId> tokens = m_engine.tokenizer()->encode(prompt.segments);
    GenerateOptions how = m_settings.generateOptions();
    how.startsInReasoning = prompt.startsInReasoning;

    const Interrupts::Work work(m_console.interrupts);
    ProgressLine line(m_console.err, m_console.errIsTerminal);
    VisibleText visible(prompt.startsInReasoning);
    GenerateCallbacks calls;
    calls.prefill = [&](const PrefillEvent& event) {
      line.show("Reading", static_cast<std::uint64_t>(event.done), static_cast<std::uint64_t>(event.total));
    };
    calls.token = [&](const TokenEvent& event) {
      if (visible.inReasoning()) line.show("Thinking", 0, 0);
      const std::string shown = visible.push(event.text);
      if (shown.empty()) return;
      line.clear();
      m_console.out << shown << std::flush;
    };
    COLIBRI_ASSIGN_OR_RETURN(const Answer answer, m_session.generate(tokens, how, work.cancellation(), calls));
    line.clear();
    m_console.out << '\n' << std::flush;
    printNotices(m_console, answer.notices);
    if (m_console.errIsTerminal) m_console.err << answerInWords(answer) << std::endl;
    if (answer.finishReason == FinishReason::kError) return answer.error;
    m_messages = std::move(messages);
    m_messages.push_back({"assistant", answer.text, answer.reasoning});
    return Status::ok();
  }

  Console& m_console;
  const Engine& m_engine;
  Session& m_session;
  const Settings& m_settings;
  Dialect m_dialect;
  std::vector<ChatMessage> m_messages;
};

Status chat(Console& console, const Options& options) {
  COLIBRI_ASSIGN_OR_RETURN(const Settings settings,
                           resolveSettings(console, options.given, {SettingScope::kEngine, SettingScope::kAnswer}));
  COLIBRI_ASSIGN_OR_RETURN(const auto folder, resolveModel(console, options.model));
  LoadRequest load;
  load.model = folder;
  std::shared_ptr<Engine> engine;
  {
    const Interrupts::Work work(console.interrupts);
    COLIBRI_ASSIGN_OR_RETURN(engine, loadEngine(console, settings, load, work.cancellation()));
  }
  COLIBRI_ASSIGN_OR_RETURN(const DialectChoice choice, detectDialect(folder));
  COLIBRI_ASSIGN_OR_RETURN(const auto session, engine->newSession());
  TerminalChat terminal(console, *engine, *session, settings, choice.dialect);
  return terminal.loop();
}

}  // namespace

void addChat(CLI::App& root, Invocation& invocation) {
  auto options = std::make_shared<Options>();
  Command(root, invocation, "chat", "Talk to a model in the terminal")
      .model(options->model)
      .settings(SettingScope::kAnswer, options->given)
      .settings(SettingScope::kEngine, options->given)
      .runs([options](Console& console, bool) { return chat(console, *options); });
}

}  // namespace colibri
