#include "cli/finding_output.h"

#include "base/json.h"

#include <ostream>

namespace colibri {

OrderedJson findingJson(const Finding& finding) {
  OrderedJson json{{"severity", finding.severity == Severity::kError ? "error" : "warning"}, {"code", finding.code}};
  if (!finding.file.empty()) json["file"] = finding.file;
  if (!finding.tensor.empty()) json["tensor"] = finding.tensor;
  if (finding.expectedBytes) json["expected_bytes"] = *finding.expectedBytes;
  if (finding.actualBytes) json["actual_bytes"] = *finding.actualBytes;
  if (finding.tensors) json["tensors"] = *finding.tensors;
  json["message"] = finding.message;
  json["fix"] = finding.fix;
  return {{"finding", json}};
}

void printFinding(std::ostream& out, const Finding& finding) {
  out << (finding.severity == Severity::kError ? "error" : "warning") << " [" << finding.code << "] ";
  if (!finding.file.empty()) out << finding.file << ": ";
  out << finding.message;
  if (!finding.fix.empty()) out << ' ' << finding.fix;
  out << '\n';
}

}  // namespace colibri
