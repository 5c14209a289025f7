// The program's options: what is legal, and that everything else is refused with a sentence.

#include "app/core/program_options.h"

#include <QTest>

using namespace colibri;
using namespace colibri::app;

class ProgramOptionsTest : public QObject {
  Q_OBJECT

private slots:
  void windowWithAndWithoutAModel();
  void screenshot();
  void ask();
  void refused_data();
  void refused();
  void display();

private:
  static ProgramOptions parsed(const QString& line);
};

ProgramOptions ProgramOptionsTest::parsed(const QString& line) {
  const auto options = parseProgramOptions(line.split(u' ', Qt::SkipEmptyParts));
  return options.isOk() ? *options : ProgramOptions();
}

void ProgramOptionsTest::windowWithAndWithoutAModel() {
  QVERIFY(parsed({}).mode == ProgramMode::kWindow);
  QCOMPARE(parsed("/models/v4").model, QStringLiteral("/models/v4"));
  QCOMPARE(parsed("-- --odd").model, QStringLiteral("--odd"));
  QVERIFY(parsed("--version").mode == ProgramMode::kVersion);
  QVERIFY(parsed("--first-frame").mode == ProgramMode::kFirstFrame);
  QVERIFY(parsed("--self-test --json").mode == ProgramMode::kSelfTest);
}

void ProgramOptionsTest::screenshot() {
  const ProgramOptions options = parsed("--screenshot models out.png --size 960x640 --theme dark --scale 2 --demo");
  QVERIFY(options.mode == ProgramMode::kScreenshot);
  QCOMPARE(options.page, QStringLiteral("models"));
  QCOMPARE(options.file, QStringLiteral("out.png"));
  QCOMPARE(options.size, QSize(960, 640));
  QCOMPARE(options.theme, QStringLiteral("dark"));
  QCOMPARE(options.scale, 2.0);
  QVERIFY(options.demo);
  QCOMPARE(parsed("/m --screenshot chat out.png").model, QStringLiteral("/m"));
}

void ProgramOptionsTest::ask() {
  const ProgramOptions options = parsed("--screenshot out.png --ask Hello --max-tokens 7 --json /m");
  QVERIFY(options.mode == ProgramMode::kAsk);
  QCOMPARE(options.question, QStringLiteral("Hello"));
  QCOMPARE(options.file, QStringLiteral("out.png"));
  QCOMPARE(options.maxTokens, std::int64_t{7});
  QCOMPARE(options.model, QStringLiteral("/m"));
}

void ProgramOptionsTest::refused_data() {
  QTest::addColumn<QString>("line");
  QTest::newRow("unknown option") << "--nonsense";
  QTest::newRow("page that does not exist") << "--screenshot planner out.png";
  QTest::newRow("no file") << "--screenshot chat";
  QTest::newRow("too small") << "--screenshot chat out.png --size 959x640";
  QTest::newRow("too low") << "--screenshot chat out.png --size 960x639";
  QTest::newRow("no size") << "--screenshot chat out.png --size large";
  QTest::newRow("huge") << "--screenshot chat out.png --size 100000x100000";
  QTest::newRow("theme") << "--theme pink";
  QTest::newRow("scale") << "--screenshot chat out.png --scale 0";
  QTest::newRow("scale nan") << "--screenshot chat out.png --scale nan";
  QTest::newRow("scale without picture") << "--scale 2";
  QTest::newRow("two modes") << "--self-test --json --first-frame";
  QTest::newRow("ask without json") << "--ask Hello";
  QTest::newRow("tokens without ask") << "--max-tokens 3";
  QTest::newRow("no tokens") << "--ask Hello --json --max-tokens 0";
  QTest::newRow("demo without picture") << "--demo";
  QTest::newRow("demo with model") << "--demo --screenshot chat out.png /m";
  QTest::newRow("two models") << "/a /b";
  QTest::newRow("json without effect") << "--json";
  QTest::newRow("later feature") << "--language de";
}

void ProgramOptionsTest::refused() {
  QFETCH(QString, line);
  const auto options = parseProgramOptions(line.split(u' '));
  QVERIFY(!options.isOk());
  QVERIFY(options.status().code() == Code::kUsage);
  QVERIFY(options.status().message().size() > 10);
  QVERIFY(options.status().message().back() == '.');
}

void ProgramOptionsTest::display() {
  QVERIFY(missingDisplay({}, {}, {}).contains(QStringLiteral("coli run")));
  QVERIFY(missingDisplay("offscreen", {}, {}).isEmpty());
  QVERIFY(missingDisplay({}, ":0", {}).isEmpty());
  QVERIFY(missingDisplay({}, {}, "wayland-0").isEmpty());
}

QTEST_GUILESS_MAIN(ProgramOptionsTest)
#include "program_options_test.moc"
