// coli logits
#include "base/hash.h"
#include "cli/commands.h"
#include "cli/engine_loader.h"
#include "cli/images.h"
#include "cli/safetensors_writer.h"
#include "session/teacher_forcing.h"

#include <charconv>
#include <iostream>

namespace colibri {
namespace {

struct Options {
  std::string model;
  std::string tokens;
  std::vector<std::string> images;
  std::string out;
  std::string positions = "all";
  std::string via = "prefill";
  bool trace = false;
  GivenSettings given;
};

/// "prefill", "decode" or "split:N".
Status parseVia(const std::string& text, TeacherOptions& options) {
  constexpr std::string_view kSplit = "split:";
  if (text == "prefill") return Status::ok();
  if (text == "decode") {
    options.via = TeacherOptions::Via::kDecode;
    return Status::ok();
  }
  const char* end = text.data() + text.size();
  if (text.compare(0, kSplit.size(), kSplit) == 0) {
    options.via = TeacherOptions::Via::kSplit;
    const auto [last, error] = std::from_chars(text.data() + kSplit.size(), end, options.split);
    if (error == std::errc() && last == end && options.split >= 0) return Status::ok();
  }
  return Status(Code::kUsage, "bad_value", "--via takes prefill, decode or split:N, not '" + text + "'.");
}

Status logits(Console& console, const Options& options, bool json) {
  TeacherOptions teacher;
  teacher.allPositions = options.positions == "all";
  teacher.trace = options.trace;
  COLIBRI_RETURN_IF_ERROR(parseVia(options.via, teacher));
  const bool hashOnly = options.out == "-";
  if (hashOnly && options.trace) {
    return Status(Code::kUsage, "usage",
                  "--trace needs a file to write to; --out - prints the hash of the logits alone.");
  }
  COLIBRI_ASSIGN_OR_RETURN(const Settings settings, resolveSettings(console, options.given));
  COLIBRI_ASSIGN_OR_RETURN(const std::vector<TokenId> tokens, readTokens(console, options.tokens));
  if (static_cast<std::size_t>(teacher.split) > tokens.size()) {
    return Status(Code::kUsage, "bad_value",
                  "--via split:N must not be more than the " + std::to_string(tokens.size()) + " tokens.");
  }
  COLIBRI_ASSIGN_OR_RETURN(const std::vector<ImagePixels> images, loadImages(options.images));
  COLIBRI_ASSIGN_OR_RETURN(const auto folder, resolveModel(console, options.model));
  if (!options.images.empty()) COLIBRI_RETURN_IF_ERROR(checkTakesImages(folder));
  const Interrupts::Work work(console.interrupts);
  LoadRequest load;
  load.model = folder;
  load.needTokenizer = false;
  COLIBRI_ASSIGN_OR_RETURN(const auto engine, loadEngine(console, settings, load, work.cancellation()));
  COLIBRI_ASSIGN_OR_RETURN(const ModelInput input, modelInput(*engine, tokens, images, work.cancellation()));
  COLIBRI_ASSIGN_OR_RETURN(const std::vector<NamedTensor> tensors,
                           computeLogits(*engine, input, teacher, work.cancellation()));
  const NamedTensor& values = tensors.front();
  if (!hashOnly) COLIBRI_RETURN_IF_ERROR(writeSafetensors(options.out, tensors));
  if (hashOnly || json) {
    printJson(console, {{"hash", shortHash(values.data)}, {"positions", values.shape.front()}});
  } else {
    console.err << "Wrote " << tensors.size() << " tensors, " << values.shape.front() << " positions, to "
                << options.out << std::endl;
  }
  return Status::ok();
}

}  // namespace

void addLogits(CLI::App& root, Invocation& invocation) {
  auto options = std::make_shared<Options>();
  Command(root, invocation, "logits", "Logits of given tokens (teacher forcing)")
      .model(options->model)
      .text("--tokens", options->tokens, "JSON file with an array of ids", Need::kRequired)
      .files("--image", options->images, "PNG, JPEG or WebP file; each image id of the tokens stands for one, in order")
      .text("--out", options->out, "safetensors file to write; - prints a hash of the bits instead", Need::kRequired)
      .choice("--positions", options->positions, {"all", "last"}, "Which positions (default all)")
      .text("--via", options->via, "How to compute them: prefill, decode or split:N; never changes a bit")
      .flag("--trace", options->trace, "Also write what each layer computed")
      .settings(SettingScope::kEngine, options->given)
      .json()
      .runs([options](Console& console, bool json) { return logits(console, *options, json); });
}

}  // namespace colibri
