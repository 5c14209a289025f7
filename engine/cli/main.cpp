#include "cli/run_cli.h"

#include <unistd.h>

#include <csignal>
#include <iostream>
#include <thread>

namespace {

/// Hears of Ctrl-C on a thread of its own, so that nothing runs inside a signal handler.
void watchSignals(const sigset_t& signals, colibri::Interrupts& interrupts) {
  std::thread([signals, &interrupts] {
    for (;;) {
      int signal = 0;
      if (sigwait(&signals, &signal) != 0) return;
      if (interrupts.interrupt()) continue;
      constexpr char kNewline = '\n';
      if (isatty(STDERR_FILENO) != 0 && write(STDERR_FILENO, &kNewline, 1) < 0) _exit(130);
      _exit(130);
    }
  }).detach();
}

}  // namespace

int main(int argc, char** argv) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);

  std::ios::sync_with_stdio(false);
  const colibri::Environment environment = colibri::processEnvironment();
  colibri::Console console{std::cin,
                           std::cout,
                           std::cerr,
                           environment,
                           colibri::settingsFile(environment),
                           isatty(STDIN_FILENO) != 0,
                           isatty(STDOUT_FILENO) != 0,
                           isatty(STDERR_FILENO) != 0,
                           {}};
  watchSignals(signals, console.interrupts);
  const int code = colibri::runCli({argv + 1, argv + argc}, console);
  std::cout.flush();
  // The watcher still waits for signals; leave without running destructors under it.
  _exit(code);
}
