#pragma once
// What the models page shows and does: the model that is loaded, and a folder that is being looked at.

#include "app/library/folder_check.h"
#include "app/library/model_service.h"

#include <QQmlEngine>
#include <QUrl>
#include <QVariantList>

namespace colibri::app {

/// Lives on the GUI thread and never waits: folders are read in a worker thread.
class ModelsViewModel : public QObject {
  Q_OBJECT
  QML_ELEMENT
  QML_UNCREATABLE("The program makes one.")

  Q_PROPERTY(ModelState modelState READ modelState NOTIFY modelChanged)
  Q_PROPERTY(QString modelName READ modelName NOTIFY modelChanged)
  Q_PROPERTY(QString modelFolder READ modelFolder NOTIFY modelChanged)
  Q_PROPERTY(bool isDemo READ isDemo NOTIFY modelChanged)
  Q_PROPERTY(QString modelGeometry READ modelGeometry NOTIFY modelChanged)
  Q_PROPERTY(double expertsInMemory READ expertsInMemory NOTIFY modelChanged)
  Q_PROPERTY(double expertsInAll READ expertsInAll NOTIFY modelChanged)
  Q_PROPERTY(double memoryUsed READ memoryUsed NOTIFY modelChanged)
  Q_PROPERTY(double memoryBudget READ memoryBudget NOTIFY modelChanged)
  Q_PROPERTY(double loadSeconds READ loadSeconds NOTIFY modelChanged)
  Q_PROPERTY(double contextTokens READ contextTokens NOTIFY modelChanged)
  Q_PROPERTY(QString failureTitle READ failureTitle NOTIFY modelChanged)
  Q_PROPERTY(QString failureText READ failureText NOTIFY modelChanged)
  Q_PROPERTY(double loadedBytes READ loadedBytes NOTIFY loadProgressChanged)
  Q_PROPERTY(double totalBytes READ totalBytes NOTIFY loadProgressChanged)

  Q_PROPERTY(CheckState checkState READ checkState NOTIFY checkChanged)
  Q_PROPERTY(QString folder READ folder NOTIFY checkChanged)
  Q_PROPERTY(QString folderName READ folderName NOTIFY checkChanged)
  Q_PROPERTY(QString verdict READ verdict NOTIFY checkChanged)
  Q_PROPERTY(QString explanation READ explanation NOTIFY checkChanged)
  Q_PROPERTY(QVariantList facts READ facts NOTIFY checkChanged)
  Q_PROPERTY(QVariantList findings READ findings NOTIFY checkChanged)
  Q_PROPERTY(int moreFindings READ moreFindings NOTIFY checkChanged)

public:
  enum ModelState { NoModel, LoadingModel, ModelReady, ModelFailed };
  Q_ENUM(ModelState)
  enum CheckState { NothingChecked, Checking, Sound, SoundWithRemarks, Refused };
  Q_ENUM(CheckState)

  /// `models` outlives this object.
  explicit ModelsViewModel(ModelService* models, QObject* parent = nullptr);

  /// Looks into a folder (a file address from the dialog).
  Q_INVOKABLE void check(const QUrl& folder);
  Q_INVOKABLE void checkAgain();
  /// Forgets the folder that was looked at.
  Q_INVOKABLE void dismiss();
  /// Loads the folder that was looked at.
  Q_INVOKABLE void loadChecked();
  Q_INVOKABLE void tryDemo();
  Q_INVOKABLE void retry();
  Q_INVOKABLE void cancelLoading();
  Q_INVOKABLE void unload();

  [[nodiscard]] ModelState modelState() const;
  [[nodiscard]] QString modelName() const { return m_models->name(); }
  [[nodiscard]] QString modelFolder() const { return m_models->folder(); }
  [[nodiscard]] bool isDemo() const { return m_models->isDemo(); }
  [[nodiscard]] QString modelGeometry() const;
  [[nodiscard]] double expertsInMemory() const { return static_cast<double>(m_models->model().plan.expertSlots); }
  [[nodiscard]] double expertsInAll() const;
  [[nodiscard]] double memoryUsed() const { return static_cast<double>(m_models->model().plan.usedBytes); }
  [[nodiscard]] double memoryBudget() const { return static_cast<double>(m_models->model().plan.budgetBytes); }
  [[nodiscard]] double loadSeconds() const { return m_models->model().loadSeconds; }
  [[nodiscard]] double contextTokens() const { return m_models->model().contextTokens; }
  [[nodiscard]] QString failureTitle() const { return m_models->failure().title; }
  [[nodiscard]] QString failureText() const { return m_models->failure().text; }
  [[nodiscard]] double loadedBytes() const { return static_cast<double>(m_models->loadedBytes()); }
  [[nodiscard]] double totalBytes() const { return static_cast<double>(m_models->totalBytes()); }

  [[nodiscard]] CheckState checkState() const { return m_checkState; }
  [[nodiscard]] QString folder() const { return m_folder; }
  [[nodiscard]] QString folderName() const;
  /// The result in one sentence.
  [[nodiscard]] QString verdict() const;
  /// Why, and what to do.
  [[nodiscard]] QString explanation() const;
  /// {label, kind ("text", "bytes", "count"), value}
  [[nodiscard]] QVariantList facts() const;
  /// {isError, message, fix}
  [[nodiscard]] QVariantList findings() const;
  [[nodiscard]] int moreFindings() const { return m_report.moreFindings; }

  /// The result of a check without checking, for pictures.
  void show(const FolderReport& report);

signals:
  void modelChanged();
  void loadProgressChanged();
  void checkChanged();
  /// A model has just become ready.
  void modelLoaded();

private:
  void start(const QString& folder);

  ModelService* m_models;
  FolderCheck m_check;
  CheckState m_checkState = NothingChecked;
  QString m_folder;
  FolderReport m_report;
};

}  // namespace colibri::app
