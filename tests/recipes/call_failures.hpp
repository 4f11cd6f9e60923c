#pragma once

#include <latchkey/error.hpp>

#include <initializer_list>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>

#include <gtest/gtest.h>

namespace latchkey::test {

/// What `call` fails with; no error if it does not. A call that takes an std::error_code reports
/// it there, and any other one throws it.
template <class Call>
[[nodiscard]] std::error_code code_of(Call call) {
    if constexpr (std::is_invocable_v<Call, std::error_code&>) {
        std::error_code ec;
        static_cast<void>(call(ec));
        return ec;
    } else {
        try {
            static_cast<void>(call());
        } catch (const error& e) {
            return e.code();
        }
        return {};
    }
}

/// Whether `call` throws this error, and its message has all of `words`.
template <class Call>
[[nodiscard]] ::testing::AssertionResult fails_with(const std::error_code& expected,
                                                    Call call,
                                                    std::initializer_list<std::string> words = {}) {
    try {
        static_cast<void>(call());
    } catch (const error& e) {
        const std::string what = e.what();
        if (e.code() != expected) {
            return ::testing::AssertionFailure() << what << ", not " << expected.message();
        }
        for (const std::string& word : words) {
            if (what.find(word) == std::string::npos) {
                return ::testing::AssertionFailure() << what << " does not say " << word;
            }
        }
        return ::testing::AssertionSuccess();
    }
    return ::testing::AssertionFailure() << "no error, instead of " << expected.message();
}

/// The same of a call that is refused before anything is sent.
template <class Call>
[[nodiscard]] ::testing::AssertionResult is_invalid(Call call,
                                                    std::initializer_list<std::string> words = {}) {
    return fails_with(make_error_code(errc::invalid_argument), std::move(call), words);
}

}  // namespace latchkey::test
