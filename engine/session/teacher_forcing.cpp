#include "session/teacher_forcing.h"

#include "session/session_core.h"

#include <cstring>
#include <memory>
#include <utility>

namespace colibri {
namespace {

template <typename T>
NamedTensor tensor(std::string name, Dtype dtype, const std::vector<T>& values, std::vector<std::uint64_t> shape) {
  NamedTensor t{std::move(name), dtype, std::move(shape), {}};
  t.data.resize(values.size() * sizeof(T));
  std::memcpy(t.data.data(), values.data(), t.data.size());
  return t;
}

void addTrace(const EngineCore& engine, const Trace& trace, std::uint64_t tokens, std::vector<NamedTensor>& out) {
  const ModelConfig& c = engine.config();
  const auto d = static_cast<std::uint64_t>(c.hiddenSize);
  const auto m = static_cast<std::uint64_t>(c.hcMult);
  const auto k = static_cast<std::uint64_t>(c.expertsPerToken);
  for (std::size_t i = 0; i < trace.layers.size(); ++i) {
    const LayerTrace& layer = trace.layers[i];
    const std::string n = std::to_string(i);
    out.push_back(tensor("layer." + n, Dtype::kF32, layer.streams, {tokens, m, d}));
    out.push_back(tensor("attn." + n + ".in", Dtype::kF32, layer.attnIn, {tokens, d}));
    out.push_back(tensor("attn." + n + ".out", Dtype::kF32, layer.attnOut, {tokens, d}));
    out.push_back(tensor("ffn." + n + ".in", Dtype::kF32, layer.ffnIn, {tokens, d}));
    out.push_back(tensor("ffn." + n + ".out", Dtype::kF32, layer.ffnOut, {tokens, d}));
    out.push_back(tensor("router." + n + ".ids", Dtype::kI32, layer.routerIds, {tokens, k}));
    out.push_back(tensor("router." + n + ".weights", Dtype::kF32, layer.routerWeights, {tokens, k}));
    const LayerSpec& spec = engine.layers().layers[i];
    if (spec.chooses(static_cast<int>(i))) {
      out.push_back(tensor("indexer." + n + ".ids", Dtype::kI32, layer.indexIds,
                           {tokens, static_cast<std::uint64_t>(c.indexTopK)}));
    }
    if (spec.candidates == CandidateRole::kChooses) {
      out.push_back(tensor("candidates." + n, Dtype::kI32, layer.candidates,
                           {tokens, static_cast<std::uint64_t>(c.candidateBlocks)}));
    }
    if (spec.engram >= 0) {
      out.push_back(tensor("engram." + n + ".rows", Dtype::kI64, layer.engramRows,
                           {tokens, static_cast<std::uint64_t>(c.engram.columns())}));
      out.push_back(tensor("engram." + n + ".out", Dtype::kF32, layer.engramOut, {tokens, m, d}));
    }
  }
  out.push_back(tensor("final_norm", Dtype::kF32, trace.finalNorm, {trace.finalNorm.size() / d, d}));
}

}  // namespace

Result<std::vector<NamedTensor>> computeLogits(Engine& engine, std::span<const TokenId> tokens,
                                               const TeacherOptions& options, const Cancellation& cancellation) {
  return computeLogits(engine, ModelInput{{tokens.begin(), tokens.end()}, {}}, options, cancellation);
}

Result<std::vector<NamedTensor>> computeLogits(Engine& engine, const ModelInput& input, const TeacherOptions& options,
                                               const Cancellation& cancellation) {
  const std::span<const TokenId> tokens = input.tokens;
  auto* core = dynamic_cast<EngineCore*>(&engine);
  if (core == nullptr) return Status(Code::kInternal, "foreign_engine", "Teacher forcing needs a local engine.");
  if (tokens.empty()) return Status(Code::kUsage, "empty_prompt", "The list of tokens is empty.");
  if (static_cast<int>(tokens.size()) > core->options().context) {
    return Status(Code::kUsage, "context_full",
                  "There are " + std::to_string(tokens.size()) + " tokens, but the context holds " +
                      std::to_string(core->options().context) + ". Raise --ctx.");
  }
  for (const TokenId token : tokens) {
    if (token < 0 || token >= core->config().vocabSize) {
      return Status(Code::kUsage, "token_out_of_range",
                    "Token " + std::to_string(token) + " is not in the model's vocabulary.");
    }
  }
  COLIBRI_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, core->newSession());
  auto& state = static_cast<SessionCore&>(*session);
  COLIBRI_RETURN_IF_ERROR(state.checkImages(input));

  std::size_t prefill = tokens.size();
  if (options.via == TeacherOptions::Via::kDecode) prefill = 0;
  if (options.via == TeacherOptions::Via::kSplit)
    prefill = std::min(tokens.size(), static_cast<std::size_t>(std::max(0, options.split)));
  Trace trace;
  Trace* recorded = options.trace ? &trace : nullptr;
  std::vector<float> rows;
  std::vector<float>* all = options.allPositions ? &rows : nullptr;
  if (prefill > 0)
    COLIBRI_RETURN_IF_ERROR(
        state.extend(Phase::kPrefill, tokens.first(prefill), input.images, cancellation, recorded, all));
  for (std::size_t i = prefill; i < tokens.size(); ++i) {
    COLIBRI_RETURN_IF_ERROR(
        state.extend(Phase::kDecode, tokens.subspan(i, 1), input.images, cancellation, recorded, all));
  }
  if (!options.allPositions) rows.assign(state.logits().begin(), state.logits().end());

  const auto vocab = static_cast<std::uint64_t>(core->config().vocabSize);
  std::vector<NamedTensor> out;
  out.push_back(tensor("logits", Dtype::kF32, rows, {rows.size() / vocab, vocab}));
  if (options.trace) addTrace(*core, trace, tokens.size(), out);
  return out;
}

}  // namespace colibri
