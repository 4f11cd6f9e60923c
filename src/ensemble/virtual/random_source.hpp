#pragma once

#include <bit>
#include <cstdint>
#include <string_view>
#include <unordered_map>

namespace latchkey::model {

/// xoshiro256**, seeded by splitmix64: small, fast, and the same on every platform.
class random_source {
public:
    using result_type = std::uint64_t;

    explicit random_source(std::uint64_t seed) noexcept {
        for (std::uint64_t& word : state_) {
            seed += 0x9e3779b97f4a7c15U;
            std::uint64_t z = seed;
            z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
            z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
            word = z ^ (z >> 31U);
        }
    }

    static constexpr result_type min() noexcept { return 0; }

    static constexpr result_type max() noexcept { return ~result_type{0}; }

    result_type operator()() noexcept {
        const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
        const std::uint64_t t = state_[1] << 17U;
        state_[2] ^= state_[0];
        state_[3] ^= state_[1];
        state_[1] ^= state_[2];
        state_[0] ^= state_[3];
        state_[2] ^= t;
        state_[3] = std::rotl(state_[3], 45);
        return result;
    }

    /// A number in [0, bound); 0 if bound is 0. The bias of the remainder does not matter here.
    std::uint64_t below(std::uint64_t bound) noexcept { return bound == 0 ? 0 : (*this)() % bound; }

    /// True with the given probability.
    bool chance(double probability) noexcept {
        return probability > 0 && static_cast<double>((*this)() >> 11U) * 0x1.0p-53 < probability;
    }

private:
    std::uint64_t state_[4];
};

/// Independent streams of random numbers, each known by a name and a number: what is drawn from one
/// moves no other. A run in which one client sends one more request draws everything else as
/// before.
class random_streams {
public:
    explicit random_streams(std::uint64_t seed) noexcept : seed_(seed) {}

    /// Each call gets the same stream. The reference stays valid.
    random_source& operator()(std::string_view name, std::uint64_t number = 0) {
        const std::uint64_t key = key_of(name, number);
        return streams_.try_emplace(key, key).first->second;
    }

    /// One that its owner keeps.
    [[nodiscard]] random_source make(std::string_view name, std::uint64_t number = 0) const {
        return random_source(key_of(name, number));
    }

private:
    [[nodiscard]] std::uint64_t key_of(std::string_view name, std::uint64_t number) const noexcept {
        std::uint64_t hash = 0xcbf29ce484222325U ^ (seed_ * 0x9e3779b97f4a7c15U);
        for (const char c : name) {
            hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
        }
        return (hash ^ number) * 0xbf58476d1ce4e5b9U;
    }

    std::uint64_t seed_;
    std::unordered_map<std::uint64_t, random_source> streams_;
};

}  // namespace latchkey::model
