#pragma once
// Layer layouts of the released models, as configs.

#include "checkpoint/model_config.h"

namespace colibri::test {

// Layers of the released V4.1 Flash.
inline ModelConfig flash41() {
  ModelConfig c;
  c.family = ModelFamily::kDeepSeekV41;
  c.layers = 40;
  c.slidingWindow = 128;
  c.weightBlock = 32;
  c.indexTopK = 512;
  c.headDim = 512;
  c.ropeDim = 64;
  c.indexHeads = 32;
  c.indexHeadDim = 128;
  c.hiddenSize = 5120;
  c.heads = 64;
  c.qLoraRank = 1280;
  c.oGroups = 8;
  c.oLoraRank = 1024;
  c.moeIntermediate = 2304;
  c.routedExperts = 384;
  c.expertsPerToken = 6;
  for (int layer = 0; layer < 40; ++layer) c.compressRatios.push_back(layer < 2 ? 0 : layer < 20 ? 2 : 1);
  c.kvSourceLayers = {2, 8, 14, 20};
  c.indexSourceLayers = {2, 8, 14, 20, 24, 28, 32, 36};
  c.candidateSourceLayer = 20;
  c.candidateBlocks = 2048;
  c.candidateBlockSize = 8;
  c.engram.layers = {1, 14};
  c.engram.maxNgram = 4;
  c.engram.heads = 8;
  c.engram.headDim = 256;
  return c;
}

inline ModelConfig flash4() {
  ModelConfig c;
  c.layers = 43;
  c.hashLayers = 3;
  c.slidingWindow = 128;
  c.indexTopK = 512;
  c.headDim = 512;
  c.ropeDim = 64;
  c.indexHeads = 64;
  c.indexHeadDim = 128;
  for (int layer = 0; layer < 43; ++layer) c.compressRatios.push_back(layer < 2 ? 0 : layer % 2 == 0 ? 4 : 128);
  return c;
}

}  // namespace colibri::test
