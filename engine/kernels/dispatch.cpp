#include "kernels/cpu_features.h"
#include "kernels/isa_tables.h"
#include "kernels/prepared_block.h"

#include <string>

namespace colibri {

#if defined(__x86_64__)
namespace {

const Kernels& avx512VnniKernels() {
  static const Kernels table = [] {
    Kernels copy = kAvx512Kernels;
    copy.name = "avx512-vnni";
    copy.linearFp4 = linearFp4Avx512Vnni;
    return copy;
  }();
  return table;
}

}  // namespace
#endif

std::vector<const Kernels*> availableKernels() {
  std::vector<const Kernels*> tables{&kScalarKernels};
#if defined(__x86_64__)
  const CpuFeatures features = detectCpuFeatures();
  if (features.avx2) tables.push_back(&kAvx2Kernels);
  if (features.avx512) tables.push_back(&kAvx512Kernels);
  if (features.avx512Vnni) tables.push_back(&avx512VnniKernels());
#endif
  return tables;
}

Result<const Kernels*> kernelsFor(Isa isa) {
  const std::vector<const Kernels*> tables = availableKernels();
  if (isa == Isa::kAuto) return tables.back();
  for (auto table = tables.rbegin(); table != tables.rend(); ++table) {
    if ((*table)->isa == isa) return *table;
  }
  return Status(Code::kUnavailable, "isa_unavailable",
                "The instruction set \"" + std::string(isaName(isa)) +
                    "\" cannot be used: this processor or this build of " +
                    "Colibri does not have it. The best one here is \"" + std::string(isaName(tables.back()->isa)) +
                    "\"; leave the setting at \"auto\" to use it.");
}

std::string_view isaName(Isa isa) {
  switch (isa) {
    case Isa::kAuto:
      return "auto";
    case Isa::kScalar:
      return "scalar";
    case Isa::kAvx2:
      return "avx2";
    case Isa::kAvx512:
      return "avx512";
    case Isa::kNeon:
      return "neon";
  }
  return "unknown";
}

std::size_t fp4PreparedBytes(int k) {
  return static_cast<std::size_t>((k + 127) / 128) * sizeof(PreparedBlock);
}

}  // namespace colibri
