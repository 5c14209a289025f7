#include "message_log.h"
#include "modes.h"

#include <QAccessible>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QQuickItem>

#include <cstdio>

namespace colibri::app {
namespace {

bool isFocusable(const QQuickItem* item) {
  if (!item->isVisible() || !item->isEnabled()) return false;
  const QVariant policy = item->property("focusPolicy");
  return item->activeFocusOnTab() || (policy.isValid() && policy.toInt() != Qt::NoFocus);
}

QString describe(const QQuickItem* item) {
  const QString type = QString::fromLatin1(item->metaObject()->className()).section(u'_', 0, 0);
  return item->objectName().isEmpty() ? type : type + u' ' + item->objectName();
}

/// Everything that the keyboard reaches and a screen reader could not name.
void collectUnnamed(QQuickItem* item, QStringList& unnamed) {
  if (isFocusable(item)) {
    QAccessibleInterface* accessible = QAccessible::queryAccessibleInterface(item);
    if (!accessible || accessible->text(QAccessible::Name).isEmpty()) unnamed.append(describe(item));
  }
  for (QQuickItem* child : item->childItems()) collectUnnamed(child, unnamed);
}

}  // namespace

int runSelfTest(Program& program) {
  QAccessible::setActive(true);
  program.window()->show();
  settle(program.window());
  QStringList warnings = takeWarnings();
  QStringList unnamed;
  QJsonArray pages;
  bool ok = warnings.isEmpty();
  // Every page as it is at the first start, then filled.
  QMap<QString, QStringList> warningsOf;
  for (const bool filled : {false, true}) {
    if (filled) showDemoScene(program);
    for (const QString& page : pageNames()) {
      program.showPage(page);
      settle(program.window());
      collectUnnamed(program.window()->contentItem(), unnamed);
      warningsOf[page] += takeWarnings();
    }
  }
  for (const QString& page : pageNames()) {
    program.showPage(page);
    const bool loaded = program.window()->property("page").toString() == page;
    ok = ok && loaded && warningsOf[page].isEmpty();
    pages.append(
        QJsonObject{{"page", page}, {"loaded", loaded}, {"warnings", QJsonArray::fromStringList(warningsOf[page])}});
  }
  unnamed.removeDuplicates();
  ok = ok && unnamed.isEmpty();
  const QJsonObject report{{"ok", ok},
                           {"pages", pages},
                           {"warnings", QJsonArray::fromStringList(warnings)},
                           {"unnamed_items", QJsonArray::fromStringList(unnamed)}};
  std::printf("%s\n", QJsonDocument(report).toJson(QJsonDocument::Compact).constData());
  return ok ? 0 : 1;
}

}  // namespace colibri::app
