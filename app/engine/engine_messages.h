#pragma once
// What travels between the engine thread and the GUI thread: plain values, copied through queued signals.

#include <colibri/chat.h>
#include <colibri/engine.h>
#include <colibri/event.h>
#include <colibri/session.h>

#include <QMetaType>
#include <QString>

#include <cstdint>
#include <string>

namespace colibri::app {

/// Number of a command (load or ask). 0 is never used, so it can mean "none".
using CommandId = quint64;

/// Facts about a model that has just been loaded.
struct LoadedModel {
  ModelSummary summary;
  EnginePlan plan;
  double loadSeconds = 0;
  int contextTokens = 0;
  bool canChat = false;  ///< it has a tokenizer
};

/// How one answer is to be made.
struct AskOptions {
  bool thinking = false;
  std::string effort;           ///< "", "low", "high", "max"
  std::int64_t maxTokens = -1;  ///< -1: until the context is full
  Sampling sampling;            ///< the default is greedy, as in `coli run`
};

/// What one generated token added to the message. Pieces are never dropped; empty texts are possible.
struct AnswerPiece {
  QString content;
  QString reasoning;
  bool isToken = true;       ///< false: text that was held back, not a token of its own
  bool inReasoning = false;  ///< the next text will be reasoning
};

/// One reading of the engine's counters. Samples may be dropped: each stands for itself.
struct TelemetrySample {
  LiveCounters counters;
  double seconds = 0;  ///< steady clock, only differences mean something
};

/// What the user can do about a failure; the banner's button.
enum class FailureAction { kNone, kRetry, kOpenFolder, kNewChat };

/// A failure in words: what happened, why and what to do.
struct Failure {
  QString title;   ///< what happened, one sentence
  QString text;    ///< why and what to do
  QString detail;  ///< further facts for a tooltip, may be empty
  Code code = Code::kInternal;
  FailureAction action = FailureAction::kNone;
};

}  // namespace colibri::app

Q_DECLARE_METATYPE(colibri::app::LoadedModel)
Q_DECLARE_METATYPE(colibri::app::AnswerPiece)
Q_DECLARE_METATYPE(colibri::app::TelemetrySample)
Q_DECLARE_METATYPE(colibri::app::Failure)
Q_DECLARE_METATYPE(colibri::PrefillEvent)
Q_DECLARE_METATYPE(colibri::Answer)
