// Every table of kernels that this processor can run, also one that no setting chooses because a better one of the same
// instruction set is there.

#include "kernels/isa_tables.h"
#include "property/combination.h"

namespace colibri::test {
namespace {

class KernelTables : public ::testing::TestWithParam<SubjectCase> {};

LogitRows rowsWith(const EngineCore& engine, const ModelContext& model, std::span<const TokenId> prompt) {
  LogitRows rows;
  rows.vocab = engine.config().vocabSize;
  rows.values.resize(prompt.size() * static_cast<std::size_t>(rows.vocab));
  const auto state = SequenceState::create(engine.config(), engine.layers(), engine.options().context,
                                           engine.options().numerics, engine.ledger());
  EXPECT_TRUE(state.isOk());
  if (!state.isOk()) return rows;
  TimeLedger time;
  Transformer transformer(model);
  ForwardOutput output;
  output.want = ForwardOutput::Logits::kAll;
  output.logits = rows.values.data();
  const Status status = transformer.forward(*state.value(), {prompt, {}}, output, {}, time);
  EXPECT_TRUE(status.isOk()) << status.message();
  return rows;
}

TEST_P(KernelTables, GiveTheSameBits) {
  const Subject subject = openSubject(GetParam().name);
  const std::vector<TokenId> prompt = subject.prompt(17);
  const auto control = std::make_shared<testing::FaultControl>();
  const auto engine = openEngine(engineOptions(subject, GetParam().numerics, {}, prompt.size()), control);
  ASSERT_NE(engine, nullptr);
  const LogitRows expected = computeRows(subject, GetParam().numerics, {}, prompt);
  const ModelContext& own = engine->transformer().context();
  for (const Kernels* table : availableKernels()) {
    const ModelContext model{own.config, own.plan,     own.weights, *table,        own.team,  own.experts,
                             own.work,   own.numerics, own.dense,   own.indexKeys, own.engram};
    EXPECT_TRUE(sameBits(expected.values, rowsWith(*engine, model, prompt).values)) << table->name;
  }
}

INSTANTIATE_TEST_SUITE_P(Subjects, KernelTables, ::testing::ValuesIn(allSubjects()), caseName);

}  // namespace
}  // namespace colibri::test
