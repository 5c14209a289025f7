// Markdown to blocks: right for what models write, safe for everything else.

#include "app/chat/markdown.h"

#include "app/chat/markdown_stream.h"

#include <QRandomGenerator>
#include <QRegularExpression>
#include <QTest>

using namespace colibri::app;

class MarkdownTest : public QObject {
  Q_OBJECT

private slots:
  void paragraphs();
  void inlineMarkup();
  void listsAreFlat();
  void codeAndTables();
  void htmlIsText();
  void onlySafeLinks_data();
  void onlySafeLinks();
  void picturesAreLinks();
  void streamingEndsLikeWhole();
  void finishedBlocksStay();
  void fencesKeepBlankLines();
  void longTextIsCut();
  void hostileTextIsSafe();

private:
  static QVector<Block> streamed(const QString& text, int piece);
  static QString unsafePart(const QVector<Block>& blocks);
};

QVector<Block> MarkdownTest::streamed(const QString& text, int piece) {
  MarkdownStream stream;
  for (qsizetype at = 0; at < text.size(); at += piece) stream.append(text.mid(at, piece));
  stream.finish();
  return stream.blocks();
}

/// What is left of the markup when every allowed tag is taken away and still looks like a tag.
QString MarkdownTest::unsafePart(const QVector<Block>& blocks) {
  static const QRegularExpression allowed(
      QStringLiteral("</?(b|i|del|code)>|<br>|</a>|<a href=\"(https?://|mailto:)[^\"<>]*\">"));
  for (const Block& block : blocks) {
    QStringList texts{block.markup};
    for (const QStringList& row : block.rows) texts += row;
    for (QString text : texts) {
      text.remove(allowed);
      if (text.contains(u'<') || text.contains(u'>') || text.contains(u'"')) return text;
    }
  }
  return {};
}

void MarkdownTest::paragraphs() {
  const auto blocks = parseMarkdown(u"First\nline.\n\n## Title\n\n---\n");
  QCOMPARE(blocks.size(), 3);
  QCOMPARE(blocks[0].markup, QStringLiteral("First<br>line."));
  QCOMPARE(blocks[0].plain, QStringLiteral("First\nline."));
  QVERIFY(blocks[1].kind == BlockKind::kHeading);
  QCOMPARE(blocks[1].level, 2);
  QVERIFY(blocks[2].kind == BlockKind::kRule);
}

void MarkdownTest::inlineMarkup() {
  const auto blocks = parseMarkdown(u"**a** *b* ~~c~~ `d<e` $x^2$ &amp; &#x41;");
  QCOMPARE(blocks.size(), 1);
  QCOMPARE(blocks[0].markup,
           QStringLiteral("<b>a</b> <i>b</i> <del>c</del> <code>d&lt;e</code> <code>x^2</code> &amp; A"));
}

void MarkdownTest::listsAreFlat() {
  const auto blocks = parseMarkdown(u"3. one\n   - inner\n4. two\n\n> quoted\n");
  QCOMPARE(blocks.size(), 4);
  QCOMPARE(blocks[0].marker, QStringLiteral("3."));
  QCOMPARE(blocks[1].listDepth, 2);
  QCOMPARE(blocks[1].marker, QStringLiteral("•"));
  QCOMPARE(blocks[2].marker, QStringLiteral("4."));
  QCOMPARE(blocks[3].quoteDepth, 1);
}

void MarkdownTest::codeAndTables() {
  const auto blocks = parseMarkdown(u"```cpp\nint a;\n\nint b;\n```\n\n| l | r |\n|:--|--:|\n| 1 | **2** |\n");
  QCOMPARE(blocks.size(), 2);
  QVERIFY(blocks[0].kind == BlockKind::kCode);
  QCOMPARE(blocks[0].language, QStringLiteral("cpp"));
  QCOMPARE(blocks[0].plain, QStringLiteral("int a;\n\nint b;"));
  QVERIFY(blocks[1].kind == BlockKind::kTable);
  QVERIFY(blocks[1].columns == (QVector<CellAlignment>{CellAlignment::kLeft, CellAlignment::kRight}));
  QCOMPARE(blocks[1].rows.size(), 2);
  QCOMPARE(blocks[1].rows[1], (QStringList{"1", "<b>2</b>"}));
}

void MarkdownTest::htmlIsText() {
  const auto blocks = parseMarkdown(u"use std::vector<int> and <script>alert(1)</script> <img src=http://x/y>");
  QCOMPARE(blocks.size(), 1);
  QVERIFY(blocks[0].plain.contains(QStringLiteral("vector<int> and <script>")));
  QCOMPARE(unsafePart(blocks), QString());
}

void MarkdownTest::onlySafeLinks_data() {
  QTest::addColumn<QString>("address");
  QTest::addColumn<bool>("allowed");
  QTest::newRow("https") << "https://example.org/a?b=c&d=e" << true;
  QTest::newRow("mail") << "mailto:a@example.org" << true;
  QTest::newRow("javascript") << "javascript:alert(1)" << false;
  QTest::newRow("file") << "file:///etc/passwd" << false;
  QTest::newRow("data") << "data:text/html,x" << false;
  QTest::newRow("relative") << "../secret" << false;
  QTest::newRow("no host") << "http:///x" << false;
  QTest::newRow("upper case") << "HTTPS://example.org" << true;
  QTest::newRow("app scheme") << "vscode://x" << false;
}

void MarkdownTest::onlySafeLinks() {
  QFETCH(QString, address);
  QFETCH(bool, allowed);
  const auto blocks = parseMarkdown(QString("[here](" + address + ")"));
  QCOMPARE(blocks.size(), 1);
  QCOMPARE(blocks[0].plain, QStringLiteral("here"));
  QCOMPARE(blocks[0].markup.contains(QStringLiteral("<a href=")), allowed);
  QCOMPARE(isOpenableAddress(address), allowed);
}

void MarkdownTest::picturesAreLinks() {
  const auto blocks = parseMarkdown(u"![a picture](http://host/leak?q=1)");
  QCOMPARE(blocks.size(), 1);
  QCOMPARE(blocks[0].markup, QStringLiteral("<a href=\"http://host/leak?q=1\">a picture</a>"));
}

void MarkdownTest::streamingEndsLikeWhole() {
  const QString text = QStringLiteral(
      "# Title\nIntro *text* with `code`.\n\n- one\n- two\n  - inner\n\n  more of inner\n- three\n\n"
      "```python\ndef f():\n\n    return 1\n```\nAfter the fence.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> quote\n\nEnd "
      "🐦.");
  const auto whole = streamed(text, 100000);
  QVERIFY(whole.size() >= 10);
  for (const int piece : {1, 2, 3, 7, 16, 64}) QVERIFY(streamed(text, piece) == whole);
}

void MarkdownTest::finishedBlocksStay() {
  MarkdownStream stream;
  QVector<Block> before;
  int finished = 0;
  const QString text = QStringLiteral("One.\n\nTwo\nlines.\n\n1. a\n2. b\n\nThree.\n\n```\nx\n```\n\nFour.");
  for (const QChar c : text) {
    stream.append(QString(c));
    QVERIFY(stream.finishedCount() >= finished);
    for (int i = 0; i < finished; ++i) QVERIFY(stream.blocks().at(i) == before.at(i));
    before = stream.blocks();
    finished = stream.finishedCount();
  }
  QVERIFY(finished >= 5);
}

void MarkdownTest::fencesKeepBlankLines() {
  MarkdownStream stream;
  stream.append(QStringLiteral("```sh\nfirst\n\nsecond"));
  QCOMPARE(stream.blocks().size(), 1);
  QCOMPARE(stream.finishedCount(), 0);
  QCOMPARE(stream.blocks()[0].plain, QStringLiteral("first\n\nsecond"));
  stream.append(QStringLiteral("\n```\n"));
  QCOMPARE(stream.finishedCount(), 1);
  QCOMPARE(stream.blocks()[0].language, QStringLiteral("sh"));
}

void MarkdownTest::longTextIsCut() {
  MarkdownStream stream;
  for (int i = 0; i < 3000; ++i) stream.append(QStringLiteral("word "));
  QVERIFY(stream.finishedCount() >= 4);
  stream.finish();
  QString text;
  for (const Block& block : stream.blocks()) {
    QVERIFY(block.plain.size() <= 4000);
    text += block.plain + u' ';
  }
  QCOMPARE(text.count(QStringLiteral("word")), 3000);
}

void MarkdownTest::hostileTextIsSafe() {
  const QStringList parts{"<",
                          ">",
                          "\"",
                          "&",
                          "[",
                          "](",
                          ")",
                          "![",
                          "http://h/",
                          "javascript:",
                          "`",
                          "```",
                          "\n",
                          "\n\n",
                          "- ",
                          "1. ",
                          "> ",
                          "| ",
                          "|---|",
                          "*",
                          "**",
                          "~~",
                          "$",
                          "#",
                          "\\",
                          "&#0;",
                          "&#x1F600;",
                          "&lt;",
                          "<img src=x onerror=y>",
                          "</a>",
                          "<a href=\"",
                          "\t",
                          "    ",
                          "---",
                          "a",
                          "b c",
                          "é",
                          "漢",
                          "🐦",
                          QString(QChar(0)),
                          QString(QChar(0xD800)),
                          QString(QChar(0x202E)),
                          "mailto:x@y",
                          "www.x.y",
                          "https://x.y/\"onclick=\"z"};
  QRandomGenerator random(20260731);
  for (int round = 0; round < 1500; ++round) {
    QString text;
    const int length = random.bounded(1, 60);
    for (int i = 0; i < length; ++i) text += parts.at(random.bounded(static_cast<int>(parts.size())));
    MarkdownStream stream;
    for (qsizetype at = 0; at < text.size();) {
      const int piece = random.bounded(1, 12);
      stream.append(text.mid(at, piece));
      at += piece;
      const QString unsafe = unsafePart(stream.blocks());
      QVERIFY2(unsafe.isEmpty(), qPrintable(text + " -> " + unsafe));
    }
    stream.finish();
    const QString unsafe = unsafePart(stream.blocks());
    QVERIFY2(unsafe.isEmpty(), qPrintable(text + " -> " + unsafe));
  }
}

QTEST_GUILESS_MAIN(MarkdownTest)
#include "markdown_test.moc"
