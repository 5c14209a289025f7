#include "model/engram_hash.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>

namespace colibri {
namespace {

__extension__ using Uint128 = unsigned __int128;

constexpr int kMostNgram = 8;
constexpr int kMostHeads = 64;
constexpr std::size_t kMostTables = 64;
constexpr std::int64_t kLargestPrimeStart = std::int64_t{1} << 32;
constexpr int kMostClasses = 1 << 24;
constexpr std::uint64_t kSeedPerLayer = 10007;

Status impossible(std::string sentence) {
  return Status(Code::kCheckpoint, "config_invalid",
                "config.json does not fit together: " + std::move(sentence) +
                    " Check that it is the file that came with the model.");
}

std::uint64_t powerModulo(std::uint64_t base, std::uint64_t exponent, std::uint64_t modulus) {
  Uint128 result = 1;
  Uint128 square = base % modulus;
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result = result * square % modulus;
    square = square * square % modulus;
  }
  return static_cast<std::uint64_t>(result);
}

/// Miller-Rabin; with these bases exact below 4,759,123,141.
bool isPrime(std::uint64_t n) {
  constexpr std::array<std::uint64_t, 3> kBases{2, 7, 61};
  if (n < 2) return false;
  for (const std::uint64_t small : {2U, 3U, 5U, 7U, 61U}) {
    if (n % small == 0) return n == small;
  }
  std::uint64_t odd = n - 1;
  int twos = 0;
  for (; (odd & 1) == 0; odd >>= 1) ++twos;
  return std::all_of(kBases.begin(), kBases.end(), [&](std::uint64_t base) {
    std::uint64_t x = powerModulo(base, odd, n);
    if (x == 1 || x == n - 1) return true;
    for (int i = 1; i < twos; ++i) {
      x = powerModulo(x, 2, n);
      if (x == n - 1) return true;
    }
    return false;
  });
}

/// numpy's default_rng: PCG64 (XSL-RR 128/64) seeded by SeedSequence from one 32-bit word. Written out because the
/// stream of a library may change, and another stream finds other rows.
class NumpyRandom {
public:
  explicit NumpyRandom(std::uint32_t seed) {
    std::array<std::uint32_t, 4> pool{};
    std::uint32_t hash = 0x43b0d7e5U;
    const auto hashMix = [&hash](std::uint32_t value, std::uint32_t multiplier) {
      value ^= hash;
      hash *= multiplier;
      value *= hash;
      return value ^ (value >> 16);
    };
    constexpr std::uint32_t kPoolMultiplier = 0x931e8875U;
    for (std::size_t i = 0; i < pool.size(); ++i) pool[i] = hashMix(i == 0 ? seed : 0, kPoolMultiplier);
    for (std::size_t from = 0; from < pool.size(); ++from) {
      for (std::size_t to = 0; to < pool.size(); ++to) {
        if (to == from) continue;
        const std::uint32_t mixed = 0xca01f9ddU * pool[to] - 0x4973f715U * hashMix(pool[from], kPoolMultiplier);
        pool[to] = mixed ^ (mixed >> 16);
      }
    }
    hash = 0x8b51f9ddU;
    std::array<std::uint64_t, 4> words{};
    for (std::size_t i = 0; i < 2 * words.size(); ++i) {
      const std::uint64_t word = hashMix(pool[i % pool.size()], 0x58f38dedU);
      words[i / 2] |= word << (32 * (i % 2));
    }
    m_increment = (Uint128{words[2]} << 64 | words[3]) << 1 | 1;
    step();
    m_state += Uint128{words[0]} << 64 | words[1];
    step();
  }

  std::uint64_t next() {
    step();
    const auto folded = static_cast<std::uint64_t>(m_state >> 64) ^ static_cast<std::uint64_t>(m_state);
    const auto turn = static_cast<unsigned>(m_state >> 122);
    return folded >> turn | folded << (-turn & 63U);
  }

  /// Uniform in [0, bound), by Lemire's method; numpy takes it for bounds above 2^32.
  std::uint64_t below(std::uint64_t bound) {
    const std::uint64_t threshold = (0 - bound) % bound;
    while (true) {
      const Uint128 product = Uint128{next()} * bound;
      if (static_cast<std::uint64_t>(product) >= threshold) return static_cast<std::uint64_t>(product >> 64);
    }
  }

private:
  void step() {
    constexpr Uint128 kMultiplier = Uint128{0x2360ED051FC65DA4U} << 64 | 0x4385DF649FCCF645U;
    m_state = m_state * kMultiplier + m_increment;
  }

  Uint128 m_state = 0;
  Uint128 m_increment = 0;
};

Status checkNumbers(const EngramConfig& c, std::int32_t padClass) {
  const bool possible = !c.layers.empty() && c.layers.size() <= kMostTables && c.rows.size() == c.layers.size() &&
                        c.maxNgram >= 2 && c.maxNgram <= kMostNgram && c.heads >= 1 && c.heads <= kMostHeads &&
                        c.primeStart >= 2 && c.primeStart <= kLargestPrimeStart && c.classes >= 1 &&
                        c.classes <= kMostClasses && std::all_of(c.layers.begin(), c.layers.end(), [](int layer) {
                          return layer >= 0 && static_cast<std::uint64_t>(layer) * kSeedPerLayer <=
                                                   std::numeric_limits<std::uint32_t>::max();
                        });
  if (!possible) return impossible("its engram_ numbers are outside of what Colibri can compute.");
  if (padClass < 0 || padClass >= c.classes) {
    return impossible("the class of engram_pad_token_id, " + std::to_string(padClass) + ", is none of the " +
                      std::to_string(c.classes) + " of engram_compressed_vocab_size.");
  }
  return Status::ok();
}

std::vector<std::uint64_t> multipliersOf(int layer, const EngramConfig& c) {
  // So small that class times multiplier stays below 2^63.
  constexpr std::uint64_t kLargest = (std::uint64_t{1} << 63) - 1;
  const std::uint64_t bound = std::max<std::uint64_t>(1, kLargest / static_cast<std::uint64_t>(c.classes) / 2);
  NumpyRandom random(static_cast<std::uint32_t>(static_cast<std::uint64_t>(layer) * kSeedPerLayer));
  std::vector<std::uint64_t> multipliers(static_cast<std::size_t>(c.maxNgram));
  for (std::uint64_t& multiplier : multipliers) multiplier = 2 * random.below(bound) + 1;
  return multipliers;
}

}  // namespace

Result<EngramHash> EngramHash::make(const EngramConfig& config, std::int32_t padClass) {
  COLIBRI_RETURN_IF_ERROR(checkNumbers(config, padClass));
  EngramHash hash;
  hash.maxNgram = config.maxNgram;
  hash.heads = config.heads;
  hash.padClass = padClass;
  // The released search begins anew at primeStart for each table and n-gram size and passes over primes that are taken,
  // in any table: that is one run of consecutive primes.
  std::int64_t candidate = config.primeStart;
  for (std::size_t i = 0; i < config.layers.size(); ++i) {
    Table table;
    table.layer = config.layers[i];
    std::int64_t rows = 0;
    for (int column = 0; column < hash.columns(); ++column) {
      while (!isPrime(static_cast<std::uint64_t>(candidate))) ++candidate;
      table.primes.push_back(candidate);
      table.offsets.push_back(rows);
      rows += candidate++;
    }
    if (rows != config.rows[i]) {
      return impossible("the parts of the n-gram table of layer " + std::to_string(table.layer) + " have " +
                        std::to_string(rows) + " rows in all, engram_num_embeddings says " +
                        std::to_string(config.rows[i]) + ".");
    }
    table.multipliers = multipliersOf(table.layer, config);
    hash.tables.push_back(std::move(table));
  }
  return hash;
}

void EngramHash::rows(int table, std::span<const std::int32_t> classes, std::int64_t* out) const {
  const Table& constants = tables[static_cast<std::size_t>(table)];
  const std::size_t length = classes.size();
  bool isBlocked = false;
  std::uint64_t mixed = 0;
  for (std::size_t distance = 0; distance < static_cast<std::size_t>(maxNgram); ++distance) {
    isBlocked = isBlocked || distance >= length || classes[length - 1 - distance] == kDeadClass;
    const std::int32_t seen = isBlocked ? padClass : classes[length - 1 - distance];
    mixed ^= static_cast<std::uint64_t>(seen) * constants.multipliers[distance];
    if (distance == 0) continue;
    const std::size_t first = (distance - 1) * static_cast<std::size_t>(heads);
    for (std::size_t column = first; column < first + static_cast<std::size_t>(heads); ++column) {
      const auto prime = static_cast<std::uint64_t>(constants.primes[column]);
      *out++ = static_cast<std::int64_t>(mixed % prime) + constants.offsets[column];
    }
  }
}

}  // namespace colibri
