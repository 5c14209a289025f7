#pragma once
// What a server does to a client's messages so that every dialect can write them.

#include "text/chat_message.h"
#include <colibri/status.h>

#include <vector>

namespace colibri {

/// Leading system messages become one; later ones stay (V4.1) or become user messages (V4); neighbouring assistant
/// turns become one; a last assistant turn is continued. kUsage when no turn for the model would follow.
Status normaliseMessages(EncoderRequest& request, Dialect dialect);

/// The first system message, which carries tools and response format; an empty one is inserted when there is none.
EncoderMessage& systemMessage(std::vector<EncoderMessage>& messages);

}  // namespace colibri
