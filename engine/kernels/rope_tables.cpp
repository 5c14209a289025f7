// Rotary tables. The frequencies repeat the reference's fp32 steps on correctly rounded powers; the angle is the fp32
// product and its sine and cosine are evaluated in double, so the fp32 results are the nearest numbers but for one case
// in about 2^27.

#include "kernels/kernels.h"

#include <cmath>

namespace colibri {
namespace {

constexpr double kLn2High = 0x1.62e42fefa3800p-1;
constexpr double kLn2Low = 0x1.ef35793c76730p-45;

/// ln x for normal x > 0, error below 2e-16 relative to max(1, |ln x|).
double naturalLog(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);  // exact
  if (m < 0.70710678118654752) {
    m *= 2;
    --exponent;
  }
  const double s = (m - 1) / (m + 1);
  const double z = s * s;
  double p = 0;
  for (int i = 25; i >= 3; i -= 2) p = std::fma(p, z, 1.0 / i);
  const double ln = std::fma(2 * s * z, p, 2 * s);
  return std::fma(exponent, kLn2High, std::fma(exponent, kLn2Low, ln));
}

/// e^x for |x| < 700, error below 1 ulp.
double exponential(double x) {
  const double n = std::floor(x * 1.4426950408889634 + 0.5);
  const double r = std::fma(n, -kLn2Low, std::fma(n, -kLn2High, x));
  double p = 1;
  for (int i = 14; i >= 1; --i) p = std::fma(p * r, 1.0 / i, 1.0);
  return std::ldexp(p, static_cast<int>(n));  // exact
}

double power(double base, double exponent) {
  return exponential(exponent * naturalLog(base));
}

/// Sine and cosine of |x| <= 2^21 that is exactly an fp32 number.
void sineCosine(double x, double& sine, double& cosine) {
  // pi/2 = high + low. x - n*high is a multiple of 2^-52 below 1, hence exact.
  constexpr double kHigh = 0x1.921fb54442d18p+0;
  constexpr double kLow = 0x1.1a62633145c07p-54;
  const double n = std::floor(x * 0.63661977236758134 + 0.5);
  const double r = std::fma(n, -kLow, std::fma(n, -kHigh, x));
  const double z = r * r;
  double s = 1;
  for (int i = 18; i >= 2; i -= 2) s = std::fma(s * z, -1.0 / (i * (i + 1)), 1.0);
  double c = 1;
  for (int i = 17; i >= 1; i -= 2) c = std::fma(c * z, -1.0 / (i * (i + 1)), 1.0);
  s *= r;
  switch (static_cast<long long>(n) & 3) {
    case 0:
      sine = s;
      cosine = c;
      break;
    case 1:
      sine = c;
      cosine = -s;
      break;
    case 2:
      sine = -s;
      cosine = -c;
      break;
    default:
      sine = -c;
      cosine = s;
      break;
  }
}

}  // namespace

void ropeFrequencies(const RopeParameters& parameters, float* frequencies) {
  const int pairs = parameters.dims / 2;
  constexpr double kTwoPi = 6.283185307179586;
  const auto correction = [&](double rotations) {
    return parameters.dims * naturalLog(parameters.originalContext / (kTwoPi * rotations)) /
           (2 * naturalLog(parameters.base));
  };
  const bool yarn = parameters.factor != 1 && parameters.originalContext > 0;
  float low = 0;
  float high = 0;
  if (yarn) {
    low = static_cast<float>(std::fmax(std::floor(correction(parameters.betaFast)), 0));
    high = static_cast<float>(std::fmin(std::ceil(correction(parameters.betaSlow)), parameters.dims - 1));
    if (low == high) high += 0.001F;
  }
  for (int i = 0; i < pairs; ++i) {
    const float exponent = static_cast<float>(2 * i) / static_cast<float>(parameters.dims);
    float frequency = 1.0F / static_cast<float>(power(parameters.base, static_cast<double>(exponent)));
    if (yarn) {
      const float ramp = std::fmin(std::fmax((static_cast<float>(i) - low) / (high - low), 0.0F), 1.0F);
      const float smooth = 1.0F - ramp;
      frequency = frequency / static_cast<float>(parameters.factor) * (1.0F - smooth) + frequency * smooth;
    }
    frequencies[i] = frequency;
  }
}

void ropeAngles(int position, const float* frequencies, int pairs, float* cosines, float* sines) {
  for (int i = 0; i < pairs; ++i) {
    const float angle = static_cast<float>(position) * frequencies[i];
    double sine = 0;
    double cosine = 0;
    sineCosine(static_cast<double>(angle), sine, cosine);
    cosines[i] = static_cast<float>(cosine);
    sines[i] = static_cast<float>(sine);
  }
}

}  // namespace colibri
