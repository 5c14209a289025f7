#include "app/engine/telemetry_sampler.h"

#include <chrono>
#include <utility>

namespace colibri::app {
namespace {

constexpr int kBusyMilliseconds = 50;
constexpr int kIdleMilliseconds = 1000;

}  // namespace

TelemetrySampler::TelemetrySampler() : m_timer(this) {
  m_timer.setInterval(kIdleMilliseconds);
  connect(&m_timer, &QTimer::timeout, this, &TelemetrySampler::sample);
}

void TelemetrySampler::setEngine(std::shared_ptr<Engine> engine) {
  m_engine = std::move(engine);
  if (!m_engine) {
    m_timer.stop();
    return;
  }
  m_timer.start();
  sample();
}

void TelemetrySampler::setBusy(bool busy) {
  m_timer.setInterval(busy ? kBusyMilliseconds : kIdleMilliseconds);
  sample();
}

void TelemetrySampler::sample() {
  if (!m_engine || m_waiting.exchange(true)) return;
  TelemetrySample sample;
  sample.counters = m_engine->live();
  sample.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  emit sampled(sample);
}

}  // namespace colibri::app
