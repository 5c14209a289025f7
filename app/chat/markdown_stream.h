#pragma once
// A growing answer as blocks. Finished blocks are never parsed or touched again; only the last piece of the source is.

#include "app/chat/block.h"

#include <QString>
#include <QVector>

namespace colibri::app {

/// Splits the source at blank lines outside fences, at headings and at fences. Cost of an update does not depend on the
/// length of the message. Any thread, one at a time.
class MarkdownStream {
public:
  /// Adds text and brings blocks() up to date.
  void append(const QString& text);
  /// The text has ended: everything is finished.
  void finish();

  [[nodiscard]] const QVector<Block>& blocks() const { return m_blocks; }
  /// Blocks before this index are final.
  [[nodiscard]] int finishedCount() const { return m_finished; }
  /// The whole text so far.
  [[nodiscard]] const QString& source() const { return m_source; }

private:
  void takeLine(QStringView line);
  void closePiece();
  void refreshLive(QStringView partial);
  void splitLongPiece();
  [[nodiscard]] Block fenceBlock(QStringView text) const;

  QString m_source;
  qsizetype m_lineStart = 0;  // of the unfinished last line in m_source
  QString m_piece;            // finished lines of the piece that is not closed
  bool m_isList = false;
  bool m_blankPending = false;  // a blank line in a list: the next line decides
  bool m_inFence = false;
  bool m_isFencePiece = false;  // the whole piece is one fence, shown without parsing
  QChar m_fenceMark;
  qsizetype m_fenceLength = 0;
  qsizetype m_fenceIndent = 0;
  QString m_language;
  QVector<Block> m_blocks;
  int m_finished = 0;
};

}  // namespace colibri::app
