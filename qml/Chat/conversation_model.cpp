#include "conversation_model.h"

#include <algorithm>

namespace colibri::app {
namespace {

// Longer code is folded: its first lines when finished, its last ones while it grows.
constexpr int kPreviewLines = 30;
constexpr qsizetype kPreviewCharacters = 6000;

QString kindName(const ConversationRow& row) {
  switch (row.kind) {
    case ConversationRow::Kind::kUser:
      return QStringLiteral("user");
    case ConversationRow::Kind::kReasoning:
      return QStringLiteral("reasoning");
    case ConversationRow::Kind::kFooter:
      return QStringLiteral("footer");
    case ConversationRow::Kind::kError:
      return QStringLiteral("error");
    case ConversationRow::Kind::kBlock:
      break;
  }
  switch (row.block.kind) {
    case BlockKind::kCode:
      return QStringLiteral("code");
    case BlockKind::kTable:
      return QStringLiteral("table");
    case BlockKind::kRule:
      return QStringLiteral("rule");
    default:
      return QStringLiteral("text");
  }
}

QString previewOf(const QString& code, bool live) {
  qsizetype at = live ? code.size() : 0;
  for (int line = 0; line < kPreviewLines; ++line) {
    const qsizetype found = live ? (at > 0 ? code.lastIndexOf(u'\n', at - 1) : -1) : code.indexOf(u'\n', at);
    if (found < 0) return live ? code.right(kPreviewCharacters) : code.left(kPreviewCharacters);
    at = live ? found : found + 1;
  }
  return live ? code.mid(at + 1).right(kPreviewCharacters) : code.left(at - 1).left(kPreviewCharacters);
}

QString finishText(FinishReason reason) {
  switch (reason) {
    case FinishReason::kStop:
      return ConversationModel::tr("ended by itself");
    case FinishReason::kLength:
      return ConversationModel::tr("ended at the limit of tokens");
    case FinishReason::kCancelled:
      return ConversationModel::tr("stopped by you");
    case FinishReason::kError:
      break;
  }
  return ConversationModel::tr("ended by an error");
}

QVariantMap factsOf(const Answer& answer) {
  const TimeSplit& split = answer.timings.split;
  return {{QStringLiteral("tokensPerSecond"), answer.timings.decodeTokensPerSecond},
          {QStringLiteral("tokens"), static_cast<double>(answer.completionTokens)},
          {QStringLiteral("firstTokenSeconds"), answer.timings.firstTokenSeconds},
          {QStringLiteral("totalSeconds"), answer.timings.prefillSeconds + answer.timings.decodeSeconds},
          {QStringLiteral("finish"), finishText(answer.finishReason)},
          {QStringLiteral("stopped"), answer.finishReason == FinishReason::kCancelled},
          {QStringLiteral("split"), QVariantMap{{QStringLiteral("disk_wait"), split.diskWaitSeconds},
                                                {QStringLiteral("expert"), split.expertSeconds},
                                                {QStringLiteral("attention"), split.attentionSeconds},
                                                {QStringLiteral("dense"), split.denseSeconds},
                                                {QStringLiteral("other"), split.otherSeconds}}}};
}

}  // namespace

ConversationModel::ConversationModel(QObject* parent) : QAbstractListModel(parent) {}

int ConversationModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : count();
}

QHash<int, QByteArray> ConversationModel::roleNames() const {
  return {{KindRole, "kind"},
          {MarkupRole, "markup"},
          {PlainRole, "plain"},
          {LanguageRole, "language"},
          {LevelRole, "level"},
          {ListDepthRole, "listDepth"},
          {MarkerRole, "marker"},
          {QuoteDepthRole, "quoteDepth"},
          {ColumnsRole, "columns"},
          {CellsRole, "cells"},
          {LiveRole, "live"},
          {LastRole, "last"},
          {OpensMessageRole, "opensMessage"},
          {PreviewRole, "preview"},
          {LineCountRole, "lineCount"},
          {FactsRole, "facts"}};
}

QVariant ConversationModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= count()) return {};
  const ConversationRow& row = m_rows.at(index.row());
  switch (role) {
    case KindRole:
      return kindName(row);
    case LiveRole:
      return row.live;
    case LastRole:
      return index.row() == count() - 1;
    case OpensMessageRole:
      return row.opensMessage;
    case FactsRole: {
      if (row.kind != ConversationRow::Kind::kReasoning) return row.facts;
      const Message& message = m_messages.at(row.message);
      return QVariantMap{{QStringLiteral("seconds"), message.reasoningSeconds},
                         {QStringLiteral("tokens"), static_cast<double>(message.reasoningTokens)}};
    }
    default:
      return blockData(row, role);
  }
}

QVariant ConversationModel::blockData(const ConversationRow& row, int role) const {
  const Block& block = row.block;
  switch (role) {
    case MarkupRole:
      return block.markup;
    case PlainRole:
      if (row.kind == ConversationRow::Kind::kUser) return m_messages.at(row.message).text;
      if (row.kind == ConversationRow::Kind::kReasoning) return m_messages.at(row.message).reasoning;
      return block.plain;
    case LanguageRole:
      return block.language;
    case LevelRole:
      return block.level;
    case ListDepthRole:
      return block.listDepth;
    case MarkerRole:
      return block.marker;
    case QuoteDepthRole:
      return block.quoteDepth;
    case PreviewRole:
      return block.kind == BlockKind::kCode ? previewOf(block.plain, row.live) : QString();
    case LineCountRole:
      return block.kind == BlockKind::kCode ? static_cast<int>(block.plain.count(u'\n')) + 1 : 0;
    case ColumnsRole: {
      QVariantList columns;
      for (const CellAlignment alignment : block.columns)
        columns.append(alignment == CellAlignment::kRight    ? Qt::AlignRight
                       : alignment == CellAlignment::kCenter ? Qt::AlignHCenter
                                                             : Qt::AlignLeft);
      return columns;
    }
    case CellsRole: {
      QStringList cells;
      for (const QStringList& cellsOfRow : block.rows) cells += cellsOfRow;
      return cells;
    }
    default:
      return {};
  }
}

void ConversationModel::clear() {
  beginResetModel();
  m_rows.clear();
  m_messages.clear();
  m_answering = false;
  m_reasoningRows = 0;
  m_blockRows = 0;
  m_finalBlocks = 0;
  endResetModel();
  emit countChanged();
}

void ConversationModel::appendRow(ConversationRow row) {
  row.message = static_cast<int>(m_messages.size()) - 1;
  beginInsertRows({}, count(), count());
  m_rows.append(std::move(row));
  endInsertRows();
  if (count() > 1) emit dataChanged(index(count() - 2), index(count() - 2), {LastRole});
  emit countChanged();
}

void ConversationModel::addUserMessage(const QString& text) {
  Message message;
  message.isUser = true;
  message.text = text;
  m_messages.append(message);
  ConversationRow row;
  row.kind = ConversationRow::Kind::kUser;
  row.opensMessage = true;
  appendRow(row);
}

void ConversationModel::beginAnswer() {
  m_messages.append(Message());
  m_answering = true;
  m_answerStart = count();
  m_reasoningRows = 0;
  m_blockRows = 0;
  m_finalBlocks = 0;
  m_reasoningDirty = false;
}

void ConversationModel::append(const AnswerPiece& piece, double reasoningSeconds) {
  if (!m_answering) return;
  Message& message = m_messages.last();
  if (!piece.reasoning.isEmpty()) {
    message.reasoning += piece.reasoning;
    if (piece.isToken) ++message.reasoningTokens;
    message.reasoningSeconds = reasoningSeconds;
    m_reasoningDirty = true;
  }
  if (!piece.content.isEmpty()) {
    // What a model writes between its reasoning and its answer is only white space.
    QString content = piece.content;
    if (message.content.source().isEmpty())
      while (!content.isEmpty() && content.front() == u'\n') content.remove(0, 1);
    if (!content.isEmpty()) message.content.append(content);
  }
}

void ConversationModel::flush() {
  if (!m_answering) return;
  syncReasoning();
  syncBlocks();
}

void ConversationModel::syncReasoning() {
  if (!m_reasoningDirty) return;
  m_reasoningDirty = false;
  if (m_reasoningRows == 0) {
    ConversationRow row;
    row.kind = ConversationRow::Kind::kReasoning;
    row.opensMessage = true;
    row.message = static_cast<int>(m_messages.size()) - 1;
    beginInsertRows({}, m_answerStart, m_answerStart);
    m_rows.insert(m_answerStart, row);
    m_reasoningRows = 1;
    endInsertRows();
    emit countChanged();
    return;
  }
  const QModelIndex changed = index(m_answerStart);
  emit dataChanged(changed, changed, {PlainRole, FactsRole});
}

void ConversationModel::syncBlocks() {
  const MarkdownStream& content = m_messages.last().content;
  const QVector<Block>& blocks = content.blocks();
  const int wanted = static_cast<int>(blocks.size());
  const int base = m_answerStart + m_reasoningRows;
  const auto rowOf = [&](int block) {
    ConversationRow row;
    row.block = blocks.at(block);
    row.live = block >= content.finishedCount();
    row.opensMessage = block == 0 && m_reasoningRows == 0;
    row.message = static_cast<int>(m_messages.size()) - 1;
    return row;
  };
  for (int block = m_finalBlocks; block < std::min(wanted, m_blockRows); ++block) {
    ConversationRow& old = m_rows[base + block];
    ConversationRow now = rowOf(block);
    if (old.block == now.block && old.live == now.live) continue;
    old = std::move(now);
    emit dataChanged(index(base + block), index(base + block));
  }
  if (wanted > m_blockRows) {
    const int at = base + m_blockRows;
    beginInsertRows({}, at, base + wanted - 1);
    for (int block = m_blockRows; block < wanted; ++block) m_rows.insert(base + block, rowOf(block));
    m_blockRows = wanted;
    endInsertRows();
    // The row before is no longer the one that carries the caret.
    if (at > 0) emit dataChanged(index(at - 1), index(at - 1), {LastRole});
    emit countChanged();
  } else if (wanted < m_blockRows) {
    beginRemoveRows({}, base + wanted, base + m_blockRows - 1);
    m_rows.remove(base + wanted, m_blockRows - wanted);
    m_blockRows = wanted;
    endRemoveRows();
    emit countChanged();
  }
  m_finalBlocks = content.finishedCount();
}

void ConversationModel::endAnswer() {
  m_messages.last().content.finish();
  flush();
  m_answering = false;
}

void ConversationModel::finishAnswer(const Answer& answer) {
  if (!m_answering) return;
  endAnswer();
  ConversationRow row;
  row.kind = ConversationRow::Kind::kFooter;
  row.facts = factsOf(answer);
  appendRow(row);
}

void ConversationModel::failAnswer(const Failure& failure) {
  if (!m_answering) return;
  endAnswer();
  ConversationRow row;
  row.kind = ConversationRow::Kind::kError;
  const bool kept = !m_messages.last().content.source().isEmpty();
  row.facts = {
      {QStringLiteral("title"), failure.title},
      {QStringLiteral("text"), kept ? failure.text + u' ' + tr("What was written so far is kept.") : failure.text},
      {QStringLiteral("detail"), failure.detail},
      {QStringLiteral("action"), static_cast<int>(failure.action)}};
  appendRow(row);
}

void ConversationModel::removeLastAnswer() {
  if (m_answering || m_messages.isEmpty() || m_messages.last().isUser) return;
  const int message = static_cast<int>(m_messages.size()) - 1;
  int first = count();
  while (first > 0 && m_rows.at(first - 1).message == message) --first;
  if (first < count()) {
    beginRemoveRows({}, first, count() - 1);
    m_rows.remove(first, count() - first);
    endRemoveRows();
    emit countChanged();
  }
  m_messages.removeLast();
}

QString ConversationModel::shownText() const {
  QStringList texts;
  const int message = static_cast<int>(m_messages.size()) - 1;
  for (const ConversationRow& row : m_rows) {
    if (row.message != message || row.kind != ConversationRow::Kind::kBlock) continue;
    const QString marker = row.block.marker.isEmpty() ? QString() : row.block.marker + u' ';
    texts.append(marker + row.block.plain);
  }
  return texts.join(u'\n');
}

QString ConversationModel::sourceOf(int row) const {
  if (row < 0 || row >= count()) return {};
  const Message& message = m_messages.at(m_rows.at(row).message);
  return message.isUser ? message.text : message.content.source();
}

}  // namespace colibri::app
