#include "modes.h"

namespace colibri::app {
namespace {

constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;

Answer finishedAnswer() {
  Answer answer;
  answer.finishReason = FinishReason::kStop;
  answer.promptTokens = 1840;
  answer.completionTokens = 312;
  answer.timings.prefillSeconds = 38.6;
  answer.timings.decodeSeconds = 130.0;
  answer.timings.firstTokenSeconds = 39;
  answer.timings.decodeTokensPerSecond = 2.4;
  answer.timings.split = {104.3, 34.1, 8.6, 17.4, 4.2};
  return answer;
}

void say(ConversationModel& rows, const QString& reasoning, const QString& content) {
  AnswerPiece piece;
  // 43 tokens, the first of which brings the text.
  for (int token = 0; token < 43 && !reasoning.isEmpty(); ++token) {
    piece.reasoning = token == 0 ? reasoning : QStringLiteral(" ");
    rows.append(piece, 18);
  }
  piece = AnswerPiece();
  piece.content = content;
  rows.append(piece, 18);
  rows.flush();
}

LoadedModel loadedModel() {
  LoadedModel model;
  model.summary.name = "V4.1 Flash";
  model.summary.layers = 40;
  model.summary.expertsPerLayer = 384;
  model.plan.expertSlots = 2233;
  model.plan.usedBytes = static_cast<std::uint64_t>(53.1 * kGiB);
  model.plan.budgetBytes = static_cast<std::uint64_t>(54.0 * kGiB);
  model.loadSeconds = 6.4;
  model.contextTokens = 16384;
  model.canChat = true;
  return model;
}

FolderReport folderReport() {
  FolderReport report;
  report.folder = QStringLiteral("/data/models/DeepSeek-V4-Flash");
  report.isModel = true;
  report.canLoad = true;
  report.facts.modelType = "deepseek_v4";
  report.facts.layers = 43;
  report.facts.expertsPerLayer = 256;
  report.facts.expertsPerToken = 6;
  report.facts.shards = 46;
  report.facts.tensors = 69187;
  report.facts.contextLimit = 1048576;
  report.facts.bytes.total = 159'600'000'000;
  report.facts.bytes.routedExperts = 147'200'000'000;
  report.facts.bytes.dense = 6'710'000'000;
  report.facts.bytes.head = 1'060'000'000;
  report.facts.bytes.embedding = 1'060'000'000;
  report.facts.bytes.draft = 3'570'000'000;
  report.facts.routedBytesPerToken = 3'449'290'752;
  report.facts.denseBytesPerToken = 7'768'281'308;
  return report;
}

}  // namespace

void showDemoScene(Program& program) {
  program.models().show(QStringLiteral("/data/models/DeepSeek-V4.1-Flash"), loadedModel());
  program.modelsPage().show(folderReport());

  EngineStatus::Figures figures;
  figures.modelName = QStringLiteral("V4.1 Flash");
  figures.state = QStringLiteral("working");
  figures.stateText = QObject::tr("Answering");
  figures.hitRate = 0.62;
  figures.bytesPerSecond = 4.1e9;
  figures.ceilingBytesPerSecond = 6.8e9;
  figures.tokensPerSecond = 2.4;
  figures.memoryBytes = 53.1 * kGiB;
  figures.memoryBudgetBytes = 54.0 * kGiB;
  program.status().show(figures);

  ConversationModel& rows = *program.chat().rows();
  rows.clear();
  rows.addUserMessage(QStringLiteral("What helps more here: a second drive or more memory?"));
  rows.beginAnswer();
  say(rows, {},
      QStringLiteral(
          "At 62 % hits each token still waits for 1.7 GB from the drive.\n\n"
          "So the second drive wins: it removes waiting time, while more memory only makes the waits rarer."));
  rows.finishAnswer(finishedAnswer());
  rows.addUserMessage(QStringLiteral("Merge overlapping byte ranges in Rust, in place. When is a map better?"));
  rows.beginAnswer();
  say(rows,
      QStringLiteral("Sorting by start makes overlaps neighbours. Then one pass keeps the last range and widens it."),
      QStringLiteral("Sort by start, then fold each range into the one before it. **No second vector is needed**:\n\n"
                     "```rust\n"
                     "fn merge(mut r: Vec<Range<u64>>) -> Vec<Range<u64>> {\n"
                     "    r.sort_unstable_by_key(|x| x.start);      // O(n log n)\n"
                     "    r.dedup_by(|b, a| b.start <= a.end && { a.end = a.end.max(b.end); true });\n"
                     "    r\n"
                     "}\n"
                     "```\n\n"
                     "| Approach | Time | Extra memory | Good when |\n"
                     "|:--|--:|--:|:--|\n"
                     "| Sort by start | O(n log n) | none | all ranges are known |\n"
                     "| Ordered map | O(log n) each | O(n) | ranges arrive one by one |\n\n"
                     "For a download queue the first is enough, because the bitmap is read once at"));
  ChatViewModel::Scene scene;
  scene.phase = ChatViewModel::Answering;
  scene.answerTokens = 148;
  scene.tokensPerSecond = 2.4;
  scene.firstTokenSeconds = 14;
  scene.contextUsed = 3120;
  program.chat().show(scene);
}

}  // namespace colibri::app
