#include "cli/images.h"

#include "base/json.h"
#include "checkpoint/model_config.h"

#include <openssl/evp.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace colibri {
namespace {

constexpr std::string_view kData = "data:";
constexpr std::string_view kBase64 = ";base64,";

Status badRecord(const std::string& what) {
  return Status(Code::kUsage, "bad_image", "An image of the messages " + what);
}

Status noImages() {
  return Status(Code::kUnavailable, "no_images",
                "This model cannot see images; leave them out, or use a DeepSeek V4.1 model.");
}

/// The first of these keys that holds a text, or an object with such a key.
std::string placeIn(const Json& record) {
  if (record.is_string()) return record.get<std::string>();
  if (!record.is_object()) return {};
  for (const char* key : {"image_url", "url", "path", "image", "file"}) {
    if (!record.contains(key)) continue;
    if (std::string place = placeIn(record[key]); !place.empty()) return place;
  }
  // Bytes with their type beside them, as some clients write it.
  if (record.contains("source") && record["source"].is_object()) {
    const Json& source = record["source"];
    if (source.contains("data") && source["data"].is_string()) {
      return std::string(kData) + std::string(kBase64) + source["data"].get<std::string>();
    }
    return placeIn(source);
  }
  return {};
}

Result<ImagePixels> decodeDataUrl(std::string_view url) {
  const std::size_t comma = url.find(kBase64);
  if (comma == std::string_view::npos) return badRecord("is a data: URL that is not base64. Encode it as base64.");
  std::string text(url.substr(comma + kBase64.size()));
  text.erase(std::remove_if(text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r' || c == ' '; }),
             text.end());
  const ImageLimits limits;
  if (text.size() / 4 * 3 > limits.fileBytes) {
    return badRecord("has more than " + std::to_string(limits.fileBytes) + " bytes. Save it smaller.");
  }
  const std::size_t padding = text.size() - std::min(text.size(), text.find_last_not_of('=') + 1);
  std::vector<unsigned char> bytes(text.size() / 4 * 3 + 1);
  const int size =
      EVP_DecodeBlock(bytes.data(), reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  if (text.empty() || size < 0 || padding > 2) return badRecord("is no valid base64. Encode it again.");
  return decodeImage(std::as_bytes(std::span(bytes).first(static_cast<std::size_t>(size) - padding)), limits);
}

}  // namespace

Result<std::vector<ImagePixels>> loadImages(std::span<const std::string> files) {
  std::vector<ImagePixels> images;
  for (const std::string& file : files) {
    COLIBRI_ASSIGN_OR_RETURN(ImagePixels pixels, loadImage(file));
    images.push_back(std::move(pixels));
  }
  return images;
}

Result<ImagePixels> imageFromRecord(std::string_view record, const std::filesystem::path& folder) {
  const std::string place = placeIn(Json::parse(record, nullptr, false));
  if (place.empty()) return badRecord("names no file and holds no data.");
  if (place.compare(0, kData.size(), kData) == 0) return decodeDataUrl(place);
  constexpr std::string_view kFile = "file://";
  if (place.compare(0, kFile.size(), kFile) == 0) return loadImage(place.substr(kFile.size()));
  if (place.find("://") != std::string::npos) {
    return badRecord("is at " + place + ", and nothing is fetched from the network. Save it and name the file.");
  }
  return loadImage(folder / place);
}

Status checkTakesImages(const std::filesystem::path& model) {
  COLIBRI_ASSIGN_OR_RETURN(const ModelConfig config, ModelConfig::load(model));
  return config.imageToken >= 0 ? Status::ok() : noImages();
}

Result<ModelInput> modelInput(Engine& engine, std::span<const TokenId> tokens, std::span<const ImagePixels> images,
                              const Cancellation& cancellation) {
  if (images.empty() && engine.model().imageToken < 0) return ModelInput{{tokens.begin(), tokens.end()}, {}};
  if (engine.model().imageToken < 0) return noImages();
  // Numbers are compared first, because encoding takes its time; empty places are never looked at when they differ.
  std::vector<std::shared_ptr<const EncodedImage>> encoded(images.size());
  const auto places = std::count(tokens.begin(), tokens.end(), engine.model().imageToken);
  for (std::size_t i = 0; i < images.size() && images.size() == static_cast<std::size_t>(places); ++i) {
    COLIBRI_ASSIGN_OR_RETURN(encoded[i], engine.encodeImage(images[i], cancellation));
  }
  return placeImages(tokens, engine.model().imageToken, encoded);
}

}  // namespace colibri
