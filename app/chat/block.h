#pragma once
// A message is a list of typed blocks: what one delegate shows.

#include <QString>
#include <QStringList>
#include <QVector>

namespace colibri::app {

/// Lists and quotes are not blocks of their own: each leaf carries its list depth, marker and quote depth, so a list of
/// any nesting is still one flat row after the other.
enum class BlockKind { kParagraph, kHeading, kListItem, kCode, kTable, kRule };

enum class CellAlignment { kLeft, kCenter, kRight };

struct Block {
  BlockKind kind = BlockKind::kParagraph;
  QString markup;      ///< paragraph, heading, list item: StyledText of the allowed tags only (see markdown.h)
  QString plain;       ///< the same without tags; for code its text
  QString language;    ///< code: the word after the fence, may be empty
  int level = 0;       ///< heading: 1 to 6
  int listDepth = 0;   ///< 0: not in a list
  QString marker;      ///< list item: "•", "3."; empty on its further paragraphs
  int quoteDepth = 0;  ///< 0: not in a quote
  QVector<CellAlignment> columns;  ///< table
  QVector<QStringList> rows;       ///< table: markup of the cells, header first

  bool operator==(const Block& other) const = default;
};

}  // namespace colibri::app
