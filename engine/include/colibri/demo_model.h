#pragma once
// Where the bundled demo model is: a small checkpoint that answers questions about Colibri itself.

#include <colibri/settings.h>
#include <colibri/status.h>

#include <filesystem>

namespace colibri {

/// Folder of the demo model: $COLIBRI_DEMO_MODEL, else share/colibri/demo-model beside the program's folder, else
/// resources/demo-model above a build folder, else that of the source tree this was built from.
/// kCheckpoint "missing_demo_model" when none of them has a config.json.
Result<std::filesystem::path> findDemoModel(const Environment& environment);

}  // namespace colibri
