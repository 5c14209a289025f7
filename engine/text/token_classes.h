#pragma once
// Tokens that mean the same to the n-gram tables: ids whose texts differ only in case, marks, compatibility forms or
// white space share a class (spec deepseek-v41 8.4).

#include <colibri/status.h>
#include <colibri/tokenizer.h>

#include <cstdint>
#include <vector>

namespace colibri {

/// Class of each id below `vocabSize` (the model's). Classes are numbered from 0 in the order in which ids first use
/// them; ids without a token share one. kCheckpoint "tokenizer_invalid" when a text cannot be normalised.
Result<std::vector<std::int32_t>> tokenClasses(const Tokenizer& tokenizer, int vocabSize);

}  // namespace colibri
