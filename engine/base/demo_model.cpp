#include <colibri/demo_model.h>

#include <string>
#include <vector>

namespace colibri {

Result<std::filesystem::path> findDemoModel(const Environment& environment) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (environment) {
    if (const auto chosen = environment("COLIBRI_DEMO_MODEL"); chosen && !chosen->empty()) {
      if (fs::is_regular_file(fs::path(*chosen) / "config.json", error)) return fs::path(*chosen);
      std::string message = "COLIBRI_DEMO_MODEL names ";
      return Status(Code::kCheckpoint, "missing_demo_model",
                    message.append(*chosen).append(", which holds no config.json; unset it or correct it."));
    }
  }
  std::vector<fs::path> candidates;
  const fs::path program = fs::read_symlink("/proc/self/exe", error).parent_path();
  if (!error && !program.empty()) {
    candidates.push_back(program / "../share/colibri/demo-model");
    // A build folder lies one to three levels below the source tree.
    for (const char* up : {"..", "../..", "../../.."}) candidates.push_back(program / up / "resources/demo-model");
  }
#ifdef COLIBRI_SOURCE_RESOURCES
  candidates.emplace_back(fs::path(COLIBRI_SOURCE_RESOURCES) / "demo-model");
#endif
  for (const fs::path& candidate : candidates) {
    if (fs::is_regular_file(candidate / "config.json", error)) return candidate.lexically_normal();
  }
  return Status(Code::kCheckpoint, "missing_demo_model",
                "The bundled demo model is not installed; name a model's folder after the command.");
}

}  // namespace colibri
