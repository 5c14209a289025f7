#include "app/chat/markdown.h"

#include <QUrl>
#include <md4c.h>

#include <algorithm>

namespace colibri::app {
namespace {

struct ListLevel {
  bool ordered = false;
  unsigned next = 1;
};

/// Collects md4c's callbacks. Containers (lists, quotes) become context of the leaf blocks.
class Builder {
public:
  QVector<Block> blocks;

  void enterBlock(MD_BLOCKTYPE type, const void* detail);
  void leaveBlock(MD_BLOCKTYPE type);
  void enterSpan(MD_SPANTYPE type, const void* detail);
  void leaveSpan(MD_SPANTYPE type);
  void text(MD_TEXTTYPE type, const QString& value);

private:
  void open(BlockKind kind);
  void close();
  void openItem(const MD_BLOCK_LI_DETAIL& detail);
  void add(const QString& value);
  void addTag(const char* tag);

  Block m_block;
  bool m_open = false;
  QVector<ListLevel> m_lists;
  QString m_marker;  // of the list item whose first leaf has not come yet
  int m_quotes = 0;
  int m_links = 0;
  QVector<bool> m_linkIsTag;
  QString* m_cell = nullptr;
  QStringList m_row;
  QString m_cellText;
};

QString attribute(const MD_ATTRIBUTE& value) {
  return QString::fromUtf8(value.text, static_cast<qsizetype>(value.size));
}

void Builder::open(BlockKind kind) {
  m_block = Block();
  m_block.kind = kind;
  m_block.listDepth = static_cast<int>(m_lists.size());
  m_block.quoteDepth = m_quotes;
  if (!m_lists.isEmpty()) {
    if (kind == BlockKind::kParagraph) m_block.kind = BlockKind::kListItem;
    m_block.marker = m_marker;
    m_marker.clear();
  }
  m_open = true;
}

void Builder::close() {
  if (!m_open) return;
  m_open = false;
  if (m_block.kind == BlockKind::kCode && m_block.plain.endsWith(QLatin1Char('\n'))) m_block.plain.chop(1);
  blocks.append(m_block);
}

void Builder::openItem(const MD_BLOCK_LI_DETAIL& detail) {
  close();
  if (m_lists.isEmpty()) return;
  ListLevel& level = m_lists.last();
  m_marker = level.ordered ? QString::number(level.next++) + QLatin1Char('.') : QStringLiteral("•");
  if (detail.is_task) m_marker = detail.task_mark == ' ' ? QStringLiteral("☐") : QStringLiteral("☑");
}

void Builder::enterBlock(MD_BLOCKTYPE type, const void* detail) {
  switch (type) {
    case MD_BLOCK_DOC:
    case MD_BLOCK_THEAD:
    case MD_BLOCK_TBODY:
    case MD_BLOCK_HTML:
      break;
    case MD_BLOCK_QUOTE:
      close();
      ++m_quotes;
      break;
    case MD_BLOCK_UL:
      close();
      m_lists.append({false, 1});
      break;
    case MD_BLOCK_OL:
      close();
      m_lists.append({true, static_cast<const MD_BLOCK_OL_DETAIL*>(detail)->start});
      break;
    case MD_BLOCK_LI:
      openItem(*static_cast<const MD_BLOCK_LI_DETAIL*>(detail));
      break;
    case MD_BLOCK_HR:
      close();
      open(BlockKind::kRule);
      break;
    case MD_BLOCK_H:
      close();
      open(BlockKind::kHeading);
      m_block.level = static_cast<int>(static_cast<const MD_BLOCK_H_DETAIL*>(detail)->level);
      break;
    case MD_BLOCK_CODE:
      close();
      open(BlockKind::kCode);
      m_block.language = attribute(static_cast<const MD_BLOCK_CODE_DETAIL*>(detail)->lang);
      break;
    case MD_BLOCK_P:
      close();
      open(BlockKind::kParagraph);
      break;
    case MD_BLOCK_TABLE:
      close();
      open(BlockKind::kTable);
      break;
    case MD_BLOCK_TR:
      m_row.clear();
      break;
    case MD_BLOCK_TH:
    case MD_BLOCK_TD: {
      m_cellText.clear();
      m_cell = &m_cellText;
      if (type == MD_BLOCK_TH) {
        const MD_ALIGN align = static_cast<const MD_BLOCK_TD_DETAIL*>(detail)->align;
        m_block.columns.append(align == MD_ALIGN_RIGHT    ? CellAlignment::kRight
                               : align == MD_ALIGN_CENTER ? CellAlignment::kCenter
                                                          : CellAlignment::kLeft);
      }
      break;
    }
  }
}

void Builder::leaveBlock(MD_BLOCKTYPE type) {
  switch (type) {
    case MD_BLOCK_QUOTE:
      close();
      m_quotes = std::max(0, m_quotes - 1);
      break;
    case MD_BLOCK_UL:
    case MD_BLOCK_OL:
      close();
      if (!m_lists.isEmpty()) m_lists.removeLast();
      break;
    case MD_BLOCK_LI:
      // An item without any text is still an item.
      if (!m_open && !m_marker.isEmpty()) open(BlockKind::kParagraph);
      close();
      break;
    case MD_BLOCK_HR:
    case MD_BLOCK_H:
    case MD_BLOCK_CODE:
    case MD_BLOCK_P:
    case MD_BLOCK_TABLE:
      close();
      break;
    case MD_BLOCK_TH:
    case MD_BLOCK_TD:
      m_cell = nullptr;
      m_row.append(m_cellText);
      m_block.plain += QLatin1Char('\t');
      break;
    case MD_BLOCK_TR:
      m_block.rows.append(m_row);
      m_block.plain.chop(1);
      m_block.plain += QLatin1Char('\n');
      break;
    default:
      break;
  }
}

void Builder::add(const QString& value) {
  if (m_cell) {
    *m_cell += escapeMarkup(value);
    m_block.plain += value;
    return;
  }
  // Text straight inside a list item: a tight list has no paragraphs.
  if (!m_open) open(BlockKind::kParagraph);
  if (m_block.kind != BlockKind::kCode) m_block.markup += escapeMarkup(value);
  m_block.plain += value;
}

void Builder::addTag(const char* tag) {
  if (m_cell) {
    *m_cell += QLatin1String(tag);
    return;
  }
  if (!m_open) open(BlockKind::kParagraph);
  m_block.markup += QLatin1String(tag);
}

void Builder::enterSpan(MD_SPANTYPE type, const void* detail) {
  switch (type) {
    case MD_SPAN_EM:
      addTag("<i>");
      break;
    case MD_SPAN_STRONG:
      addTag("<b>");
      break;
    case MD_SPAN_DEL:
      addTag("<del>");
      break;
    case MD_SPAN_CODE:
    case MD_SPAN_LATEXMATH:
    case MD_SPAN_LATEXMATH_DISPLAY:
      addTag("<code>");
      break;
    case MD_SPAN_A:
    case MD_SPAN_IMG: {
      // A picture would be fetched from wherever the text says; it is shown as a link instead.
      const QString address = attribute(type == MD_SPAN_A ? static_cast<const MD_SPAN_A_DETAIL*>(detail)->href
                                                          : static_cast<const MD_SPAN_IMG_DETAIL*>(detail)->src);
      const bool isTag = m_links == 0 && isOpenableAddress(address);
      m_linkIsTag.append(isTag);
      if (isTag) {
        ++m_links;
        const QString encoded = QUrl(address).toString(QUrl::FullyEncoded);
        const QByteArray tag = ("<a href=\"" + escapeMarkup(encoded) + "\">").toUtf8();
        addTag(tag.constData());
      }
      break;
    }
    default:
      break;
  }
}

void Builder::leaveSpan(MD_SPANTYPE type) {
  switch (type) {
    case MD_SPAN_EM:
      addTag("</i>");
      break;
    case MD_SPAN_STRONG:
      addTag("</b>");
      break;
    case MD_SPAN_DEL:
      addTag("</del>");
      break;
    case MD_SPAN_CODE:
    case MD_SPAN_LATEXMATH:
    case MD_SPAN_LATEXMATH_DISPLAY:
      addTag("</code>");
      break;
    case MD_SPAN_A:
    case MD_SPAN_IMG:
      if (!m_linkIsTag.isEmpty() && m_linkIsTag.takeLast()) {
        --m_links;
        addTag("</a>");
      }
      break;
    default:
      break;
  }
}

/// The character of an entity, or the entity as it stands.
QString entityText(const QString& entity) {
  static const struct {
    QLatin1String name;
    char16_t value;
  } kNames[] = {
      {QLatin1String("&amp;"), u'&'},    {QLatin1String("&lt;"), u'<'},    {QLatin1String("&gt;"), u'>'},
      {QLatin1String("&quot;"), u'"'},   {QLatin1String("&apos;"), u'\''}, {QLatin1String("&nbsp;"), u'\u00a0'},
      {QLatin1String("&hellip;"), u'…'}, {QLatin1String("&ndash;"), u'–'}, {QLatin1String("&mdash;"), u'—'},
      {QLatin1String("&times;"), u'×'},  {QLatin1String("&deg;"), u'°'},   {QLatin1String("&copy;"), u'©'}};
  for (const auto& name : kNames)
    if (entity == name.name) return QString(QChar(name.value));
  if (entity.startsWith(QLatin1String("&#")) && entity.endsWith(QLatin1Char(';'))) {
    const bool hex = entity.size() > 3 && (entity.at(2) == QLatin1Char('x') || entity.at(2) == QLatin1Char('X'));
    bool isNumber = false;
    const uint code = QStringView(entity).mid(hex ? 3 : 2).chopped(1).toUInt(&isNumber, hex ? 16 : 10);
    const bool isCharacter = isNumber && code >= 0x20 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    if (isCharacter) {
      const char32_t character = code;
      return QString::fromUcs4(&character, 1);
    }
    if (isNumber) return QString(QChar(QChar::ReplacementCharacter));
  }
  return entity;
}

void Builder::text(MD_TEXTTYPE type, const QString& value) {
  switch (type) {
    case MD_TEXT_NULLCHAR:
      add(QString(QChar(QChar::ReplacementCharacter)));
      break;
    case MD_TEXT_BR:
    case MD_TEXT_SOFTBR:
      // A single line break in a model's answer is nearly always meant.
      addTag("<br>");
      m_block.plain += QLatin1Char('\n');
      break;
    case MD_TEXT_ENTITY:
      add(entityText(value));
      break;
    default:
      add(value);
      break;
  }
}

Builder& builder(void* user) {
  return *static_cast<Builder*>(user);
}

}  // namespace

QString escapeMarkup(QStringView text) {
  QString escaped;
  escaped.reserve(text.size() + text.size() / 8);
  for (const QChar character : text) {
    switch (character.unicode()) {
      case u'&':
        escaped += QLatin1String("&amp;");
        break;
      case u'<':
        escaped += QLatin1String("&lt;");
        break;
      case u'>':
        escaped += QLatin1String("&gt;");
        break;
      case u'"':
        escaped += QLatin1String("&quot;");
        break;
      default:
        escaped += character;
    }
  }
  return escaped;
}

bool isOpenableAddress(const QString& address) {
  const QUrl url(address, QUrl::StrictMode);
  if (!url.isValid()) return false;
  const QString scheme = url.scheme();
  if (scheme == QLatin1String("mailto")) return !url.path().isEmpty();
  return (scheme == QLatin1String("http") || scheme == QLatin1String("https")) && !url.host().isEmpty();
}

QVector<Block> parseMarkdown(QStringView source) {
  const QByteArray bytes = source.toUtf8();
  MD_PARSER parser{};
  parser.flags = MD_DIALECT_GITHUB | MD_FLAG_NOHTML | MD_FLAG_LATEXMATHSPANS;
  parser.enter_block = [](MD_BLOCKTYPE type, void* detail, void* user) {
    builder(user).enterBlock(type, detail);
    return 0;
  };
  parser.leave_block = [](MD_BLOCKTYPE type, void*, void* user) {
    builder(user).leaveBlock(type);
    return 0;
  };
  parser.enter_span = [](MD_SPANTYPE type, void* detail, void* user) {
    builder(user).enterSpan(type, detail);
    return 0;
  };
  parser.leave_span = [](MD_SPANTYPE type, void*, void* user) {
    builder(user).leaveSpan(type);
    return 0;
  };
  parser.text = [](MD_TEXTTYPE type, const MD_CHAR* text, MD_SIZE size, void* user) {
    builder(user).text(type, QString::fromUtf8(text, static_cast<qsizetype>(size)));
    return 0;
  };
  Builder result;
  if (md_parse(bytes.constData(), static_cast<MD_SIZE>(bytes.size()), &parser, &result) != 0) {
    // Only without memory; the text itself is still worth showing.
    Block block;
    block.plain = source.toString();
    block.markup = escapeMarkup(source);
    return {block};
  }
  return result.blocks;
}

}  // namespace colibri::app
