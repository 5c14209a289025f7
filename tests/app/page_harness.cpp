#include "page_harness.h"

#include <QClipboard>
#include <QGuiApplication>

namespace colibri::test {
namespace {

std::filesystem::path demoPath() {
  return std::filesystem::path(COLIBRI_RESOURCE_DIR) / "demo-model";
}

app::EngineFactory factory(bool isReal, const std::shared_ptr<FakeScript>& script) {
  if (!isReal) return fakeFactory(script);
  return [](const EngineOptions& options, const std::function<void(const LoadProgress&)>& progress,
            const Cancellation& cancellation) { return Engine::open(options, progress, cancellation); };
}

Result<EngineOptions> optionsFor(const std::filesystem::path& folder) {
  EngineOptions options;
  options.model = folder;
  return options;
}

}  // namespace

PageHarness::PageHarness(bool isReal)
    : m_thread(factory(isReal, m_script)),
      m_status(&m_thread),
      m_service(
          &m_thread, [] { return Result<std::filesystem::path>(demoPath()); }, optionsFor),
      m_chat(&m_thread, &m_service),
      m_models(&m_service) {}

QString PageHarness::lastPrompt() const {
  QString text;
  for (const TokenId id : m_script->lastPrompt) text += QLatin1Char(static_cast<char>(id));
  return text;
}

QUrl PageHarness::demoFolder() const {
  return QUrl::fromLocalFile(QString::fromStdString(demoPath().string()));
}

QUrl PageHarness::otherFolder() const {
  return QUrl::fromLocalFile(QString::fromStdString(demoPath().parent_path().string()));
}

void PageHarness::reset() {
  m_chat.newChat();
  m_chat.setThinking(false);
  m_models.dismiss();
  m_service.cancel();
  m_service.unload();
  m_script->pieces = {"Hello", " from", " the", " fake."};
  m_script->pause = std::chrono::microseconds(0);
  m_script->stallAt.reset();
  m_script->failAt.reset();
  m_script->openError = Status();
  m_script->openStalls = false;
}

void PageHarness::answerWith(const QStringList& pieces, int pauseMilliseconds) {
  m_script->pieces.clear();
  for (const QString& piece : pieces) m_script->pieces.push_back(piece.toStdString());
  m_script->pause = std::chrono::milliseconds(pauseMilliseconds);
}

void PageHarness::stallAt(int token) {
  m_script->stallAt = static_cast<std::size_t>(token);
}

void PageHarness::failAt(int token) {
  m_script->failAt = static_cast<std::size_t>(token);
}

void PageHarness::refuseToLoad(const QString& sentence) {
  m_script->openError = Status(Code::kMemory, "does_not_fit", sentence.toStdString());
}

void PageHarness::hangWhileLoading() {
  m_script->openStalls = true;
}

QString PageHarness::clipboardText() const {
  return QGuiApplication::clipboard()->text();
}

}  // namespace colibri::test
