#pragma once
// `coli bench --io`: Colibri's reads of a model's experts beside what a bare loop gets from the same files.

#include <colibri/cancellation.h>
#include <colibri/engine.h>
#include <colibri/status.h>

#include <cstdint>
#include <string>
#include <vector>

namespace colibri {

struct IoBenchOptions {
  EngineOptions engine;  ///< model, folders, direct, io and queueDepth are used
  bool quick = false;    ///< windows of some milliseconds and little memory: shows that it works, no more
};

/// Reads beside their ceiling. Each round measures the two one after the other, so that what else goes on at the drive
/// meets both; rates are medians over the rounds.
struct ReadFigure {
  std::string path;
  std::uint64_t blockBytes = 0;
  int queueDepth = 0;
  bool direct = false;
  std::string reason;  ///< why not direct
  std::string io;
  int rounds = 0;
  double rate = 0;     ///< bytes a second; requests a second for the small reads
  double ceiling = 0;  ///< the same of the bare loop
  double ratio = 0;    ///< rate / ceiling of each round; median
};

/// One thread's fp4 matvec over weights in memory, alone and while the drive reads as fast as it can.
struct InterferenceFigure {
  std::string path;
  std::string isa;
  std::uint64_t workingSetBytes = 0;
  int rounds = 0;
  double aloneBytesPerSecond = 0;   ///< of weights, in the thread's own time; median
  double besideBytesPerSecond = 0;  ///< the same with reads
  double slowdown = 0;              ///< 1 - beside / alone, of each round; median
  double readBytesPerSecond = 0;    ///< what the drive gave meanwhile; median
};

struct IoBenchReport {
  std::vector<ReadFigure> experts;     ///< one a folder
  std::vector<ReadFigure> smallReads;  ///< 4 KiB at random, 32 in flight; one a folder
  std::vector<InterferenceFigure> interference;
  std::vector<std::string> notices;  ///< files that are sparse or small, less memory than wanted
};

/// Reads headers, then measures for about ten seconds a folder. Errors as Engine::open for what it opens, kCancelled.
Result<IoBenchReport> benchIo(const IoBenchOptions& options, const Cancellation& cancellation);

}  // namespace colibri
