#pragma once
// Markdown to blocks, safe to show: whatever the text, the markup holds escaped text and the tags
// <b> <i> <del> <code> <br> <a href="…"> alone, and addresses are http, https or mailto.

#include "app/chat/block.h"

#include <QString>
#include <QStringView>
#include <QVector>

namespace colibri::app {

/// Blocks of a piece of Markdown (GitHub's dialect, HTML shown as text, images as links). Any text is legal. Any
/// thread.
QVector<Block> parseMarkdown(QStringView source);

/// Whether a link may be opened at all: a complete http, https or mailto address.
bool isOpenableAddress(const QString& address);

/// Text as markup: escaped, nothing else.
QString escapeMarkup(QStringView text);

}  // namespace colibri::app
