// The engine's thread: nothing is lost, nothing blocks, everything ends.

#include "app/engine/engine_thread.h"

#include "app/engine/engine_status.h"
#include "fake_engine.h"

#include <QSignalSpy>
#include <QTest>

using namespace colibri;
using namespace colibri::app;
using namespace colibri::test;

class EngineThreadTest : public QObject {
  Q_OBJECT

private slots:
  void everyTokenArrivesInOrder();
  void stopKeepsWhatWasWritten();
  void stopEndsAStall();
  void anAskThatWaitsIsStoppedToo();
  void failureBecomesWords();
  void askingWithoutAModelIsExplained();
  void loadCanBeCancelled();
  void aNewLoadReplacesTheOld();
  void unloadFreesTheEngine();
  void destroyingWhileAnsweringEnds();
  void destroyingWhileLoadingEnds();
  void reasoningIsSplitOff();
  void statusFollowsTheAnswer();
  void telemetryNeverPilesUp();

private:
  static void load(EngineThread& thread);
  static const std::vector<ChatMessage> kHello;
};

const std::vector<ChatMessage> EngineThreadTest::kHello{{"user", "Hello", {}}};

void EngineThreadTest::load(EngineThread& thread) {
  QSignalSpy loaded(&thread, &EngineThread::loaded);
  thread.load(fakeOptions());
  QVERIFY(loaded.wait());
}

void EngineThreadTest::everyTokenArrivesInOrder() {
  auto script = std::make_shared<FakeScript>();
  script->pieces.clear();
  QString expected;
  for (int i = 0; i < 2000; ++i) {
    script->pieces.push_back(std::to_string(i) + " ");
    expected += QString::number(i) + u' ';
  }
  EngineThread thread(fakeFactory(script));
  load(thread);
  QString text;
  connect(&thread, &EngineThread::piece, this, [&](quint64, const AnswerPiece& piece) { text += piece.content; });
  QSignalSpy done(&thread, &EngineThread::done);
  const CommandId id = thread.ask(kHello, {});
  QVERIFY(done.wait());
  QCOMPARE(done.at(0).at(0).toULongLong(), id);
  QCOMPARE(text, expected);
  const Answer answer = done.at(0).at(1).value<Answer>();
  QCOMPARE(answer.completionTokens, std::int64_t{2000});
  QVERIFY(!script->lastPrompt.empty());
}

void EngineThreadTest::stopKeepsWhatWasWritten() {
  auto script = std::make_shared<FakeScript>();
  script->stallAt = 2;
  EngineThread thread(fakeFactory(script));
  load(thread);
  QSignalSpy pieces(&thread, &EngineThread::piece);
  QSignalSpy done(&thread, &EngineThread::done);
  thread.ask(kHello, {});
  QTRY_COMPARE(pieces.count(), 2);
  thread.stop();
  QVERIFY(done.wait());
  const Answer answer = done.at(0).at(1).value<Answer>();
  QVERIFY(answer.finishReason == FinishReason::kCancelled);
  QCOMPARE(QString::fromStdString(answer.text), QStringLiteral("Hello from"));
  // The same engine answers again at once.
  script->stallAt.reset();
  thread.ask(kHello, {});
  QVERIFY(done.wait());
  QVERIFY(done.at(1).at(1).value<Answer>().finishReason == FinishReason::kStop);
}

void EngineThreadTest::stopEndsAStall() {
  auto script = std::make_shared<FakeScript>();
  script->stallAt = 0;
  EngineThread thread(fakeFactory(script));
  load(thread);
  QSignalSpy done(&thread, &EngineThread::done);
  thread.ask(kHello, {});
  QTRY_VERIFY(script->insideGenerate);
  // The GUI thread is free while the engine hangs.
  bool alive = false;
  QTimer::singleShot(0, this, [&] { alive = true; });
  QTRY_VERIFY(alive);
  QVERIFY(script->insideGenerate);
  thread.stop();
  QVERIFY(done.wait());
}

void EngineThreadTest::anAskThatWaitsIsStoppedToo() {
  auto script = std::make_shared<FakeScript>();
  script->stallAt = 0;
  EngineThread thread(fakeFactory(script));
  load(thread);
  QSignalSpy done(&thread, &EngineThread::done);
  thread.ask(kHello, {});
  thread.ask(kHello, {});
  thread.stop();
  QTRY_COMPARE(done.count(), 2);
}

void EngineThreadTest::failureBecomesWords() {
  auto script = std::make_shared<FakeScript>();
  script->startError = Status(Code::kUsage, "prompt_too_long", "The prompt has 5,000 tokens, the context 4,096.");
  EngineThread thread(fakeFactory(script));
  load(thread);
  QSignalSpy failed(&thread, &EngineThread::askFailed);
  thread.ask(kHello, {});
  QVERIFY(failed.wait());
  const Failure failure = failed.at(0).at(1).value<Failure>();
  QCOMPARE(failure.title, QStringLiteral("The message does not fit."));
  QVERIFY(failure.text.contains(QStringLiteral("5,000 tokens")));
  QVERIFY(failure.action == FailureAction::kNewChat);
}

void EngineThreadTest::askingWithoutAModelIsExplained() {
  EngineThread thread(fakeFactory(std::make_shared<FakeScript>()));
  QSignalSpy failed(&thread, &EngineThread::askFailed);
  thread.ask(kHello, {});
  QVERIFY(failed.wait());
  QVERIFY(failed.at(0).at(1).value<Failure>().text.contains(QStringLiteral("No model is loaded")));
}

void EngineThreadTest::loadCanBeCancelled() {
  auto script = std::make_shared<FakeScript>();
  script->openStalls = true;
  EngineThread thread(fakeFactory(script));
  QSignalSpy progress(&thread, &EngineThread::loadProgress);
  QSignalSpy failed(&thread, &EngineThread::loadFailed);
  thread.load(fakeOptions());
  QVERIFY(progress.wait());
  thread.cancelLoad();
  QVERIFY(failed.wait());
  QVERIFY(failed.at(0).at(1).value<Failure>().code == Code::kCancelled);
}

void EngineThreadTest::aNewLoadReplacesTheOld() {
  auto script = std::make_shared<FakeScript>();
  script->openStalls = true;
  EngineThread thread(fakeFactory(script));
  QSignalSpy progress(&thread, &EngineThread::loadProgress);
  QSignalSpy failed(&thread, &EngineThread::loadFailed);
  QSignalSpy loaded(&thread, &EngineThread::loaded);
  const CommandId first = thread.load(fakeOptions());
  QVERIFY(progress.wait());
  script->openStalls = false;
  const CommandId second = thread.load(fakeOptions());
  QVERIFY(loaded.wait());
  QCOMPARE(failed.at(0).at(0).toULongLong(), first);
  QCOMPARE(loaded.at(0).at(0).toULongLong(), second);
  QCOMPARE(script->enginesAlive.load(), 1);
}

void EngineThreadTest::unloadFreesTheEngine() {
  auto script = std::make_shared<FakeScript>();
  EngineThread thread(fakeFactory(script));
  load(thread);
  QCOMPARE(script->enginesAlive.load(), 1);
  QSignalSpy unloaded(&thread, &EngineThread::unloaded);
  thread.unload();
  QVERIFY(unloaded.wait());
  QCOMPARE(script->enginesAlive.load(), 0);
}

void EngineThreadTest::destroyingWhileAnsweringEnds() {
  auto script = std::make_shared<FakeScript>();
  script->stallAt = 1;
  {
    EngineThread thread(fakeFactory(script));
    load(thread);
    thread.ask(kHello, {});
    QTRY_VERIFY(script->insideGenerate);
  }
  QVERIFY(!script->insideGenerate);
  QCOMPARE(script->enginesAlive.load(), 0);
}

void EngineThreadTest::destroyingWhileLoadingEnds() {
  auto script = std::make_shared<FakeScript>();
  script->openStalls = true;
  {
    EngineThread thread(fakeFactory(script));
    QSignalSpy progress(&thread, &EngineThread::loadProgress);
    thread.load(fakeOptions());
    QVERIFY(progress.wait());
  }
  QCOMPARE(script->enginesAlive.load(), 0);
}

void EngineThreadTest::reasoningIsSplitOff() {
  auto script = std::make_shared<FakeScript>();
  script->pieces = {"First ", "think.", "</think>", "Then ", "answer."};
  EngineThread thread(fakeFactory(script));
  load(thread);
  QString content;
  QString reasoning;
  connect(&thread, &EngineThread::piece, this, [&](quint64, const AnswerPiece& piece) {
    content += piece.content;
    reasoning += piece.reasoning;
  });
  QSignalSpy done(&thread, &EngineThread::done);
  AskOptions options;
  options.thinking = true;
  thread.ask(kHello, options);
  QVERIFY(done.wait());
  QCOMPARE(content.trimmed(), QStringLiteral("Then answer."));
  QCOMPARE(reasoning.trimmed(), QStringLiteral("First think."));
  QVERIFY(script->lastOptions.startsInReasoning);
}

void EngineThreadTest::statusFollowsTheAnswer() {
  auto script = std::make_shared<FakeScript>();
  script->stallAt = 3;
  EngineThread thread(fakeFactory(script));
  EngineStatus status(&thread);
  QCOMPARE(status.state(), QStringLiteral("none"));
  QVERIFY(std::isnan(status.hitRate()));
  load(thread);
  QCOMPARE(status.state(), QStringLiteral("ready"));
  QCOMPARE(status.modelName(), QStringLiteral("Fake"));
  QTRY_COMPARE(status.memoryBytes(), static_cast<double>(3LL << 30));
  QSignalSpy done(&thread, &EngineThread::done);
  thread.ask(kHello, {});
  QTRY_COMPARE(status.stateText(), QStringLiteral("Answering"));
  QCOMPARE(status.state(), QStringLiteral("working"));
  // 40 more requests with 10 hits since the answer began.
  QTest::qWait(120);
  script->requests = 140;
  script->hits = 72;
  QTRY_COMPARE(status.hitRate(), 0.25);
  thread.stop();
  QVERIFY(done.wait());
  QCOMPARE(status.state(), QStringLiteral("ready"));
  QCOMPARE(status.tokensPerSecond(), 4.0);
}

void EngineThreadTest::telemetryNeverPilesUp() {
  auto script = std::make_shared<FakeScript>();
  script->stallAt = 1;
  EngineThread thread(fakeFactory(script));
  load(thread);
  thread.ask(kHello, {});
  QTRY_VERIFY(script->insideGenerate);
  QTest::qWait(100);
  QSignalSpy samples(&thread, &EngineThread::telemetry);
  // The GUI thread is busy for a while: what was sampled meanwhile is one sample, not ten.
  QTest::qSleep(500);
  QCoreApplication::processEvents();
  QVERIFY(samples.count() <= 1);
  thread.stop();
}

QTEST_GUILESS_MAIN(EngineThreadTest)
#include "engine_thread_test.moc"
