// Images' spans in a prompt (spec deepseek-v41 6.4).
#include <colibri/image.h>

#include <algorithm>
#include <string>

namespace colibri {

Result<ModelInput> placeImages(std::span<const TokenId> tokens, TokenId imageToken,
                               std::span<const std::shared_ptr<const EncodedImage>> images) {
  const auto places = static_cast<std::size_t>(std::count(tokens.begin(), tokens.end(), imageToken));
  if (places != images.size()) {
    return Status(Code::kUsage, "image_count",
                  "The prompt has " + std::to_string(places) + " places for images (token " +
                      std::to_string(imageToken) + "), but " + std::to_string(images.size()) +
                      " images were given. Give one image for each place.");
  }
  ModelInput input;
  std::size_t next = 0;
  for (const TokenId token : tokens) {
    if (token != imageToken) {
      input.tokens.push_back(token);
      continue;
    }
    const auto& image = images[next++];
    input.images.push_back({static_cast<std::int64_t>(input.tokens.size()), image});
    input.tokens.insert(input.tokens.end(), static_cast<std::size_t>(image->grid.tokens()), imageToken);
  }
  return input;
}

}  // namespace colibri
