#include "models_view_model.h"

#include <algorithm>

namespace colibri::app {

ModelsViewModel::ModelsViewModel(ModelService* models, QObject* parent)
    : QObject(parent), m_models(models), m_check(this) {
  connect(models, &ModelService::changed, this, [this] {
    emit modelChanged();
    if (m_models->state() == ModelService::State::kReady) emit modelLoaded();
  });
  connect(models, &ModelService::progressChanged, this, &ModelsViewModel::loadProgressChanged);
  connect(&m_check, &FolderCheck::finished, this, &ModelsViewModel::show);
}

void ModelsViewModel::check(const QUrl& folder) {
  const QString path = folder.isLocalFile() ? folder.toLocalFile() : folder.path();
  if (!path.isEmpty()) start(path);
}

void ModelsViewModel::checkAgain() {
  if (!m_folder.isEmpty()) start(m_folder);
}

void ModelsViewModel::start(const QString& folder) {
  m_folder = folder;
  m_report = FolderReport();
  m_checkState = Checking;
  m_check.start(folder);
  emit checkChanged();
}

void ModelsViewModel::show(const FolderReport& report) {
  m_report = report;
  m_folder = report.folder;
  m_checkState = !report.canLoad ? Refused : report.findings.isEmpty() ? Sound : SoundWithRemarks;
  emit checkChanged();
}

void ModelsViewModel::dismiss() {
  m_check.cancel();
  m_checkState = NothingChecked;
  m_folder.clear();
  m_report = FolderReport();
  emit checkChanged();
}

void ModelsViewModel::loadChecked() {
  if (m_report.canLoad) m_models->load(m_folder);
}

void ModelsViewModel::tryDemo() {
  m_models->loadDemo();
}

void ModelsViewModel::retry() {
  m_models->retry();
}

void ModelsViewModel::cancelLoading() {
  m_models->cancel();
}

void ModelsViewModel::unload() {
  m_models->unload();
}

ModelsViewModel::ModelState ModelsViewModel::modelState() const {
  switch (m_models->state()) {
    case ModelService::State::kLoading:
      return LoadingModel;
    case ModelService::State::kReady:
      return ModelReady;
    case ModelService::State::kFailed:
      return ModelFailed;
    case ModelService::State::kNone:
      break;
  }
  return NoModel;
}

QString ModelsViewModel::modelGeometry() const {
  const ModelSummary& model = m_models->model().summary;
  return tr("%1 layers of %2 experts").arg(model.layers).arg(model.expertsPerLayer);
}

double ModelsViewModel::expertsInAll() const {
  const ModelSummary& model = m_models->model().summary;
  return static_cast<double>(model.layers) * model.expertsPerLayer;
}

QString ModelsViewModel::folderName() const {
  return m_folder.section(u'/', -1, -1, QString::SectionSkipEmpty);
}

QString ModelsViewModel::verdict() const {
  switch (m_checkState) {
    case NothingChecked:
      return {};
    case Checking:
      return tr("Looking at the headers of all shards.");
    case Sound:
      return tr("This folder holds a complete model.");
    case SoundWithRemarks:
      return tr("This model can be loaded; there are remarks.");
    case Refused:
      break;
  }
  if (!m_report.isModel) return tr("This folder cannot be loaded.");
  const auto isError = [](const Finding& finding) { return finding.severity == Severity::kError; };
  return std::any_of(m_report.findings.begin(), m_report.findings.end(), isError)
             ? tr("This model is not complete or damaged.")
             : tr("This version of Colibri cannot run this model.");
}

QString ModelsViewModel::explanation() const {
  if (m_checkState == Sound)
    return tr("Every shard is there and as long as its header says. Contents are not read before they are needed.");
  return m_report.problem;
}

QVariantList ModelsViewModel::facts() const {
  if (!m_report.isModel) return {};
  const CheckpointInfo& info = m_report.facts;
  const auto fact = [](const QString& label, const QString& kind, const QVariant& value) {
    return QVariantMap{
        {QStringLiteral("label"), label}, {QStringLiteral("kind"), kind}, {QStringLiteral("value"), value}};
  };
  const auto bytes = [&](const QString& label, std::uint64_t value) {
    return fact(label, QStringLiteral("bytes"), static_cast<double>(value));
  };
  return {fact(tr("Model"), QStringLiteral("text"), QString::fromStdString(info.modelType)),
          fact(tr("Layers and experts"), QStringLiteral("text"),
               tr("%1 layers of %2 experts, %3 for each token")
                   .arg(info.layers)
                   .arg(info.expertsPerLayer)
                   .arg(info.expertsPerToken)),
          bytes(tr("Size in all"), info.bytes.total),
          bytes(tr("Experts, read from the drive"), info.bytes.routedExperts),
          bytes(tr("Needed in memory"), info.bytes.dense + info.bytes.head + info.bytes.embedding),
          bytes(tr("Experts of one token"), info.routedBytesPerToken),
          fact(tr("Shards"), QStringLiteral("count"), static_cast<double>(info.shards)),
          fact(tr("Longest context"), QStringLiteral("tokens"), info.contextLimit)};
}

QVariantList ModelsViewModel::findings() const {
  QVariantList list;
  for (const Finding& finding : m_report.findings)
    list.append(QVariantMap{{QStringLiteral("isError"), finding.severity == Severity::kError},
                            {QStringLiteral("message"), QString::fromStdString(finding.message)},
                            {QStringLiteral("fix"), QString::fromStdString(finding.fix)},
                            {QStringLiteral("code"), QString::fromStdString(finding.code)}});
  return list;
}

}  // namespace colibri::app
