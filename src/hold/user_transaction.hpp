#pragma once

#include <latchkey/transaction.hpp>

#include "session/failure.hpp"
#include "session/request.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey::inline v0 {

/// The requests for operations of the user's, in order. Throws errc::invalid_argument if there is
/// none, and for a path that cannot be used.
[[nodiscard]] std::vector<request> requests_of(const std::vector<operation>& operations,
                                               const acl& access);

/// A transaction of the user's: what the library puts ahead of it, which guards it, and the
/// operations. Judges the answer.
class user_transaction {
public:
    user_transaction() = default;
    user_transaction(std::vector<request> ahead, std::vector<request> operations);

    [[nodiscard]] const request& multi() const noexcept { return multi_; }

    /// How many operations the library put ahead.
    [[nodiscard]] std::size_t ahead() const noexcept { return ahead_; }

    /// Whether a check of the hold's znode was refused because that is gone.
    [[nodiscard]] bool guard_is_gone(const reply& r) const;

    /// One for each operation of the user's, when it was applied.
    [[nodiscard]] std::vector<operation_result> results(const reply& r) const;

    /// Why it was not applied, or errc::indeterminate; no failure if it was applied. The failure
    /// names the operation and its path.
    [[nodiscard]] failure why(const reply& r) const;

private:
    [[nodiscard]] bool is_guard(std::size_t operation) const;
    [[nodiscard]] std::string described(std::size_t operation) const;

    std::size_t ahead_ = 0;
    request multi_;
};

}  // namespace latchkey::inline v0
