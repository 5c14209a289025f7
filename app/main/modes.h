#pragma once
// What the program does when it is not simply used: one function a mode, each returning the exit code.

#include "program.h"
#include <colibri/exit_code.h>

#include <QGuiApplication>

namespace colibri::app {

/// Prints a Status to stderr, and with `json` an error object to stdout; returns its exit code.
int reportError(const Status& status, bool json);

int runWindow(Program& program, const ProgramOptions& options);
int runScreenshot(Program& program, const ProgramOptions& options);
int runAsk(Program& program, const ProgramOptions& options);
int runSelfTest(Program& program);
/// `secondsBefore`: how long the process has lived already.
int runFirstFrame(Program& program, double secondsBefore);

/// Fills every page with fixed data: a moment of an answer of V4.1 Flash.
void showDemoScene(Program& program);

}  // namespace colibri::app
