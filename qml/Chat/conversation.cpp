#include "conversation.h"

namespace colibri::app {

std::vector<ChatMessage> toChatMessages(const QVector<Message>& messages) {
  std::vector<ChatMessage> chat;
  for (const Message& message : messages) {
    if (message.isUser) {
      if (!chat.empty() && chat.back().role == "user")
        chat.back().content += "\n\n" + message.text.toStdString();
      else
        chat.push_back({"user", message.text.toStdString(), {}});
    } else if (!message.content.source().isEmpty()) {
      chat.push_back({"assistant", message.content.source().toStdString(), message.reasoning.toStdString()});
    }
  }
  return chat;
}

}  // namespace colibri::app
