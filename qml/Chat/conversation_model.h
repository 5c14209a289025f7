#pragma once
// A chat as rows for a list view: one row a block, so that a long answer costs no more to extend than a short one.

#include "conversation.h"

#include <QAbstractListModel>
#include <QQmlEngine>
#include <QVariant>

namespace colibri::app {

/// What one delegate of the chat's list shows.
struct ConversationRow {
  enum class Kind { kUser, kReasoning, kBlock, kFooter, kError };
  Kind kind = Kind::kBlock;
  Block block;        ///< kBlock
  bool live = false;  ///< kBlock: it may still change
  bool opensMessage = false;
  int message = 0;    ///< index of its message
  QVariantMap facts;  ///< kFooter, kError
};

/// Lives on the GUI thread. Text is gathered by append() and shown by flush(), which its owner calls at most every 33
/// ms.
class ConversationModel : public QAbstractListModel {
  Q_OBJECT
  QML_ELEMENT
  QML_UNCREATABLE("A chat is made by its view-model.")
  Q_PROPERTY(int count READ count NOTIFY countChanged)

public:
  enum Role {
    KindRole = Qt::UserRole + 1,
    MarkupRole,
    PlainRole,
    LanguageRole,
    LevelRole,
    ListDepthRole,
    MarkerRole,
    QuoteDepthRole,
    ColumnsRole,
    CellsRole,
    LiveRole,
    LastRole,
    OpensMessageRole,
    PreviewRole,
    LineCountRole,
    FactsRole,
  };

  explicit ConversationModel(QObject* parent = nullptr);

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QHash<int, QByteArray> roleNames() const override;
  [[nodiscard]] int count() const { return static_cast<int>(m_rows.size()); }

  void clear();
  void addUserMessage(const QString& text);
  /// Starts the answer that append() adds to.
  void beginAnswer();
  void append(const AnswerPiece& piece, double reasoningSeconds);
  /// Shows what was appended.
  void flush();
  void finishAnswer(const Answer& answer);
  void failAnswer(const Failure& failure);
  /// Takes the last answer away (before it is asked for again); the user's message stays.
  void removeLastAnswer();

  [[nodiscard]] const QVector<Message>& messages() const { return m_messages; }
  [[nodiscard]] bool isAnswering() const { return m_answering; }
  /// The text that the view shows for the last answer, without markup: blocks separated by line breaks.
  [[nodiscard]] QString shownText() const;
  /// The source of the answer in which the row lies.
  Q_INVOKABLE QString sourceOf(int row) const;

signals:
  void countChanged();

private:
  void appendRow(ConversationRow row);
  void syncBlocks();
  void syncReasoning();
  void endAnswer();
  [[nodiscard]] QVariant blockData(const ConversationRow& row, int role) const;

  QVector<Message> m_messages;
  QVector<ConversationRow> m_rows;
  bool m_answering = false;
  int m_answerStart = 0;    // first row of the answer
  int m_reasoningRows = 0;  // 0 or 1
  int m_blockRows = 0;
  int m_finalBlocks = 0;  // rows that will not change any more
  bool m_reasoningDirty = false;
};

}  // namespace colibri::app
