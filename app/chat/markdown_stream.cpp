#include "app/chat/markdown_stream.h"

#include "app/chat/markdown.h"

namespace colibri::app {
namespace {

// A paragraph without an end is cut here, so that one update never costs more than about 5 ms.
constexpr qsizetype kLongestPiece = 3000;
// A fence inside a list is parsed with its list; beyond this it is no longer worth that.
constexpr qsizetype kLongestFenceInList = 20000;

bool isBlank(QStringView line) {
  return line.trimmed().isEmpty();
}

qsizetype indentOf(QStringView line) {
  qsizetype indent = 0;
  while (indent < line.size() && (line[indent] == u' ' || line[indent] == u'\t')) ++indent;
  return indent;
}

bool isListStart(QStringView line) {
  const qsizetype indent = indentOf(line);
  qsizetype at = indent;
  if (indent > 3 || at >= line.size()) return false;
  if (line[at] == u'-' || line[at] == u'*' || line[at] == u'+') {
    ++at;
  } else {
    while (at < line.size() && at < indent + 9 && line[at].isDigit()) ++at;
    if (at == indent || at >= line.size() || (line[at] != u'.' && line[at] != u')')) return false;
    ++at;
  }
  return at < line.size() && (line[at] == u' ' || line[at] == u'\t');
}

bool isHeading(QStringView line) {
  qsizetype level = 0;
  while (level < line.size() && line[level] == u'#') ++level;
  return level >= 1 && level <= 6 && (level == line.size() || line[level] == u' ');
}

/// Length of the fence that the line opens (or could close), 0 when it is none.
qsizetype fenceLength(QStringView line, bool opening) {
  const qsizetype indent = indentOf(line);
  if (indent >= line.size()) return 0;
  const QChar mark = line[indent];
  if (mark != u'`' && mark != u'~') return 0;
  qsizetype length = 0;
  while (indent + length < line.size() && line[indent + length] == mark) ++length;
  if (length < 3) return 0;
  const QStringView rest = line.mid(indent + length);
  if (opening) return mark == u'`' && rest.contains(u'`') ? 0 : length;
  return isBlank(rest) ? length : 0;
}

bool isTableStart(QStringView piece) {
  const qsizetype first = piece.indexOf(u'\n');
  if (first < 0 || !piece.left(first).contains(u'|')) return false;
  const qsizetype second = piece.indexOf(u'\n', first + 1);
  const QStringView delimiter = piece.mid(first + 1, (second < 0 ? piece.size() : second) - first - 1);
  if (!delimiter.contains(u'-')) return false;
  for (const QChar c : delimiter)
    if (c != u'|' && c != u'-' && c != u':' && c != u' ') return false;
  return true;
}

}  // namespace

void MarkdownStream::append(const QString& text) {
  m_source += text;
  for (;;) {
    const qsizetype end = m_source.indexOf(u'\n', m_lineStart);
    if (end < 0) break;
    QStringView line = QStringView(m_source).mid(m_lineStart, end - m_lineStart);
    if (line.endsWith(u'\r')) line.chop(1);
    takeLine(line);
    m_lineStart = end + 1;
  }
  const QStringView partial = QStringView(m_source).mid(m_lineStart);
  if (!m_inFence && m_piece.size() + partial.size() > kLongestPiece) {
    splitLongPiece();
    refreshLive(QStringView(m_source).mid(m_lineStart));
    return;
  }
  refreshLive(partial);
}

void MarkdownStream::finish() {
  const QStringView rest = QStringView(m_source).mid(m_lineStart);
  if (!rest.isEmpty()) takeLine(rest);
  m_lineStart = m_source.size();
  closePiece();
}

void MarkdownStream::takeLine(QStringView line) {
  if (m_inFence) {
    m_piece += line;
    m_piece += u'\n';
    const qsizetype length = fenceLength(line, false);
    if (length >= m_fenceLength && line[indentOf(line)] == m_fenceMark) {
      m_inFence = false;
      if (m_isFencePiece) closePiece();
    } else if (!m_isFencePiece && m_piece.size() > kLongestFenceInList) {
      closePiece();
    }
    return;
  }
  if (isBlank(line)) {
    if (m_piece.isEmpty()) return;
    if (!m_isList) {
      closePiece();
      return;
    }
    m_blankPending = true;
    m_piece += u'\n';
    return;
  }
  if (m_blankPending && indentOf(line) == 0) closePiece();
  m_blankPending = false;

  const qsizetype fence = fenceLength(line, true);
  const qsizetype indent = indentOf(line);
  if (fence > 0) {
    const bool inList = m_isList && indent >= 2;
    if (!inList) closePiece();
    m_inFence = true;
    m_isFencePiece = !inList && indent <= 3;
    m_fenceMark = line[indent];
    m_fenceLength = fence;
    m_fenceIndent = indent;
    m_language = line.mid(indent + fence).trimmed().toString().section(u' ', 0, 0);
    if (m_isFencePiece) return;
  } else if (isHeading(line)) {
    closePiece();
    m_piece = line.toString();
    closePiece();
    return;
  } else if (m_piece.isEmpty()) {
    m_isList = isListStart(line);
  }
  m_piece += line;
  m_piece += u'\n';
  if (!m_inFence && m_piece.size() > kLongestPiece) {
    const QString header = isTableStart(m_piece) ? m_piece.section(u'\n', 0, 1) + u'\n' : QString();
    closePiece();
    m_piece = header;  // a long table goes on under the same header
  }
}

void MarkdownStream::splitLongPiece() {
  // The last line alone is too long: cut it at a space, or hard.
  const QStringView partial = QStringView(m_source).mid(m_lineStart);
  qsizetype cut = partial.lastIndexOf(u' ') + 1;
  if (cut <= 0) cut = partial.size();
  if (cut > 0 && partial[cut - 1].isHighSurrogate()) --cut;
  for (qsizetype from = 0; from < cut;) {
    qsizetype size = qMin(kLongestPiece, cut - from);
    if (from + size < cut && partial[from + size - 1].isHighSurrogate()) --size;
    m_piece += partial.mid(from, size);
    from += size;
    closePiece();
  }
  m_lineStart += cut;
}

void MarkdownStream::closePiece() {
  refreshLive({});
  m_finished = static_cast<int>(m_blocks.size());
  m_piece.clear();
  m_isList = false;
  m_blankPending = false;
  m_inFence = false;
  m_isFencePiece = false;
}

void MarkdownStream::refreshLive(QStringView partial) {
  m_blocks.resize(m_finished);
  if (m_piece.isEmpty() && isBlank(partial) && !m_isFencePiece) return;
  QString text = m_piece;
  text += partial;
  if (m_isFencePiece)
    m_blocks.append(fenceBlock(text));
  else
    m_blocks += parseMarkdown(text);
}

Block MarkdownStream::fenceBlock(QStringView text) const {
  Block block;
  block.kind = BlockKind::kCode;
  block.language = m_language;
  qsizetype from = 0;
  while (from < text.size()) {
    qsizetype end = text.indexOf(u'\n', from);
    if (end < 0) end = text.size();
    const QStringView line = text.mid(from, end - from);
    const qsizetype length = fenceLength(line, false);
    const bool closes = length >= m_fenceLength && line[indentOf(line)] == m_fenceMark;
    if (!closes) {
      if (from > 0) block.plain += u'\n';
      block.plain += line.mid(qMin(m_fenceIndent, indentOf(line)));
    }
    from = end + 1;
  }
  return block;
}

}  // namespace colibri::app
