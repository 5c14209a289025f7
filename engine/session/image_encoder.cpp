#include "session/image_encoder.h"

#include <span>
#include <utility>

namespace colibri {
namespace {

// Shapes that a legal config can have and the tower cannot.
Status checkShapes(const VisionConfig& v) {
  const auto refuse = [](const std::string& what) {
    return Status(Code::kCheckpoint, "unsupported_model",
                  "This checkpoint's image tower has " + what + ", which this build cannot compute.");
  };
  if (v.heads < 1 || v.width % v.heads != 0) return refuse("a width that its heads do not divide");
  const int headDim = v.width / v.heads;
  if (headDim % 4 != 0) return refuse("heads of " + std::to_string(headDim) + " (a multiple of 4 is needed)");
  if (v.patch < 1 || v.downsample < 1) return refuse("no patch size");
  return Status::ok();
}

}  // namespace

Result<std::unique_ptr<ImageEncoder>> ImageEncoder::create(const ModelConfig& config, const ShardSet& shards,
                                                           const Kernels& kernels, const Team& team, Numerics numerics,
                                                           std::optional<int> maxTokens,
                                                           const std::vector<ReadFile>& files,
                                                           std::shared_ptr<Ledger> ledger) {
  if (!config.vision.present() || config.imageToken < 0) {
    return Status(Code::kUnavailable, "no_images", "This model takes no images; leave the image out.");
  }
  COLIBRI_RETURN_IF_ERROR(checkShapes(config.vision));
  std::unique_ptr<ImageEncoder> encoder(new ImageEncoder(config, shards, kernels, team));
  encoder->m_numerics = numerics;
  COLIBRI_ASSIGN_OR_RETURN(encoder->m_maxTokens, imageTokenLimit(config.vision, maxTokens));
  for (const ReadFile& file : files) encoder->m_files.push_back(file.front().path);
  encoder->m_ledger = std::move(ledger);
  COLIBRI_ASSIGN_OR_RETURN(encoder->m_wants, VisionWeights::wants(config, shards));
  return encoder;
}

std::uint64_t ImageEncoder::bytesNeeded() const {
  std::uint64_t bytes = 0;
  for (const DenseStore::Want& want : m_wants) bytes += want.tensor->bytes;
  // A single row of cells has the most patches under a limit of tokens.
  const int side = m_config.vision.downsample;
  const PatchGrid largest{side, side * (m_maxTokens - 3)};
  return bytes + VisionTower::bytesNeeded(m_config.vision, m_config.hiddenSize, largest, m_team.threads());
}

Status ImageEncoder::load(const Cancellation& cancellation) {
  if (m_store) return Status::ok();
  COLIBRI_ASSIGN_OR_RETURN(const std::unique_ptr<ReadBackend> backend,
                           openReadBackend(std::span<const std::filesystem::path>(m_files), ReadOptions{}));
  COLIBRI_ASSIGN_OR_RETURN(std::unique_ptr<DenseStore> store,
                           DenseStore::load(m_shards, m_wants, *backend, m_ledger, {}, cancellation));
  COLIBRI_ASSIGN_OR_RETURN(m_weights, VisionWeights::bind(m_config, m_shards, *store));
  m_store = std::move(store);
  return Status::ok();
}

void ImageEncoder::drop() {
  m_weights = {};
  m_store.reset();
}

Result<ImageEncoder::Encoding> ImageEncoder::compute(const ImagePixels& pixels, bool keepTower,
                                                     const Cancellation& cancellation) {
  COLIBRI_ASSIGN_OR_RETURN(const PreparedImage image, prepareImage(m_config.vision, pixels, m_maxTokens));
  COLIBRI_RETURN_IF_ERROR(load(cancellation));
  const VisionModel model{m_config.vision, m_config.hiddenSize, m_weights, m_kernels, m_team, m_numerics};
  COLIBRI_ASSIGN_OR_RETURN(VisionTower tower,
                           VisionTower::create(model, {image.size.patchRows, image.size.patchColumns}, m_ledger));
  COLIBRI_ASSIGN_OR_RETURN(VisionRows rows, tower.run(image.patches, cancellation, keepTower));
  return Encoding{image.size, imageId(image), std::move(rows)};
}

Result<std::shared_ptr<const EncodedImage>> ImageEncoder::encode(const ImagePixels& pixels,
                                                                 const Cancellation& cancellation) {
  COLIBRI_ASSIGN_OR_RETURN(Encoding encoding, compute(pixels, false, cancellation));
  auto image = std::make_shared<EncodedImage>();
  image->grid = encoding.size.grid;
  image->rows = std::move(encoding.rows.aligner);
  image->id = std::move(encoding.id);
  return std::shared_ptr<const EncodedImage>(std::move(image));
}

}  // namespace colibri
