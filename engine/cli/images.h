#pragma once
// Images of a command line: files, and the records that messages hold.

#include <colibri/cancellation.h>
#include <colibri/engine.h>
#include <colibri/image.h>
#include <colibri/status.h>

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace colibri {

/// Every file, in order.
Result<std::vector<ImagePixels>> loadImages(std::span<const std::string> files);
/// An image record of a message (JSON text): {"type":"image_url","image_url":{"url":…}} and its relatives, or
/// {"type":"image","path":…}. The place is a file, relative to `folder`, or a data: URL in base64. kUsage for anything
/// else; addresses on the network are not fetched.
Result<ImagePixels> imageFromRecord(std::string_view record, const std::filesystem::path& folder);

/// kUnavailable "no_images" when the model in that folder takes none: known before anything large is loaded.
Status checkTakesImages(const std::filesystem::path& model);
/// Encodes the images and replaces each place for one in `tokens` by the span of the next. kUsage "image_count" when
/// their numbers differ, kUnavailable "no_images".
Result<ModelInput> modelInput(Engine& engine, std::span<const TokenId> tokens, std::span<const ImagePixels> images,
                              const Cancellation& cancellation);

}  // namespace colibri
