// coli run
#include "cli/answer_json.h"
#include "cli/commands.h"
#include "cli/engine_loader.h"
#include "cli/images.h"
#include "cli/progress.h"
#include "cli/prompt.h"
#include "cli/setting_json.h"
#include <colibri/engine.h>
#include <colibri/session.h>

#include <iostream>

namespace colibri {
namespace {

struct Options {
  std::string model;
  PromptSource source;
  std::int64_t repeat = 1;
  std::string traceOut;
  GivenSettings given;
};

/// What one answer prints while it is made.
GenerateCallbacks callbacks(Console& console, bool json, bool tokenEvents, ProgressLine& line, VisibleText& visible) {
  GenerateCallbacks calls;
  calls.prefill = [&console, &line, json](const PrefillEvent& event) {
    if (json) printJson(console, prefillEventJson(event));
    line.show("Reading the prompt", static_cast<std::uint64_t>(event.done), static_cast<std::uint64_t>(event.total));
  };
  calls.token = [&console, &line, &visible, json, tokenEvents](const TokenEvent& event) {
    line.clear();
    if (!tokenEvents) return;
    if (json) {
      printJson(console, tokenEventJson(event));
    } else {
      console.out << visible.push(event.text) << std::flush;
    }
  };
  return calls;
}

Status afterAnswer(const Answer& answer) {
  if (answer.finishReason == FinishReason::kCancelled) return quietCancelled();
  return answer.finishReason == FinishReason::kError ? answer.error : Status::ok();
}

Status answerOnce(Console& console, Session& session, const ModelInput& prompt, const GenerateOptions& how, bool json,
                  bool tokenEvents, const Cancellation& cancellation) {
  ProgressLine line(console.err, console.errIsTerminal);
  VisibleText visible(how.startsInReasoning);
  COLIBRI_ASSIGN_OR_RETURN(const Answer answer, session.generate(prompt, how, cancellation,
                                                                 callbacks(console, json, tokenEvents, line, visible)));
  line.clear();
  printNotices(console, answer.notices);
  if (json) {
    printJson(console, doneEventJson(answer));
  } else {
    if (!tokenEvents) console.out << answer.text;
    console.out << '\n' << std::flush;
    console.err << answerInWords(answer) << std::endl;
  }
  return afterAnswer(answer);
}

Status run(Console& console, const Options& options, bool json) {
  COLIBRI_ASSIGN_OR_RETURN(const Settings settings,
                           resolveSettings(console, options.given, {SettingScope::kEngine, SettingScope::kAnswer}));
  COLIBRI_ASSIGN_OR_RETURN(const auto folder, resolveModel(console, options.model));
  if (!options.source.images.empty()) COLIBRI_RETURN_IF_ERROR(checkTakesImages(folder));
  const Interrupts::Work work(console.interrupts);
  LoadRequest load;
  load.model = folder;
  load.needTokenizer = options.source.tokens.empty();
  load.recordSpans = !options.traceOut.empty();
  COLIBRI_ASSIGN_OR_RETURN(const auto engine, loadEngine(console, settings, load, work.cancellation()));
  if (engine->tokenizer() == nullptr && !settings.list(Setting::kStop).empty()) {
    return Status(Code::kUnavailable, "unavailable_stop",
                  "--stop needs tokenizer.json, which this folder does not have.");
  }
  COLIBRI_ASSIGN_OR_RETURN(const TokenPrompt prompt,
                           makePrompt(console, options.source, settings, folder, engine->tokenizer()));
  COLIBRI_ASSIGN_OR_RETURN(const ModelInput input,
                           modelInput(*engine, prompt.tokens, prompt.images, work.cancellation()));
  if (json) {
    OrderedJson event{{"event", "plan"}};
    event.update(planJson(engine->plan(), engine->options(), settings));
    printJson(console, event);
  }
  COLIBRI_ASSIGN_OR_RETURN(const auto session, engine->newSession());
  GenerateOptions how = settings.generateOptions();
  how.startsInReasoning = prompt.startsInReasoning;
  Status status;
  for (std::int64_t i = 0; i < options.repeat && status.isOk(); ++i) {
    status = answerOnce(console, *session, input, how, json, options.repeat == 1, work.cancellation());
    ++how.sampling.seed;
  }
  if (options.traceOut.empty()) return status;
  // Also after an answer that failed or was stopped: its timeline may tell why.
  const Status written = engine->writeTrace(options.traceOut);
  return status.isOk() ? written : status;
}

}  // namespace

void addRun(CLI::App& root, Invocation& invocation) {
  auto options = std::make_shared<Options>();
  Command(root, invocation, "run", "Answer one prompt")
      .model(options->model)
      .text("--prompt", options->source.prompt, "A user's message")
      .text("--messages", options->source.messages, "JSON file with a conversation; - is standard input")
      .text("--tokens", options->source.tokens, "JSON file with an array of ids, used as they are")
      .exactlyOne({"--prompt", "--messages", "--tokens"})
      .files("--image", options->source.images, "PNG, JPEG or WebP file in front of the text; with --tokens in order")
      .number("--repeat", options->repeat, 1, 1000000, "Answer this many times, with seeds from --seed on")
      .text("--trace-out", options->traceOut, "Write a timeline of the run to this file, for Perfetto or Chrome")
      .settings(SettingScope::kAnswer, options->given)
      .settings(SettingScope::kEngine, options->given)
      .json()
      .runs([options](Console& console, bool json) { return run(console, *options, json); });
}

}  // namespace colibri
