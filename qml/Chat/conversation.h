#pragma once
// The messages of one chat, as the engine wants them back.

#include "app/chat/markdown_stream.h"
#include "app/engine/engine_messages.h"

#include <QString>
#include <QVector>

#include <vector>

namespace colibri::app {

/// One message of a chat.
struct Message {
  bool isUser = false;
  QString text;            ///< user: as typed
  MarkdownStream content;  ///< assistant
  QString reasoning;       ///< assistant
  qint64 reasoningTokens = 0;
  double reasoningSeconds = 0;
};

/// The conversation for the next answer. An answer without any text is left out, and user messages that follow each
/// other because of that are joined.
std::vector<ChatMessage> toChatMessages(const QVector<Message>& messages);

}  // namespace colibri::app
