#pragma once

#include "serve/http_messages.hpp"

#include <optional>
#include <string>

namespace latchkey::cli {

/// Who may read what `latchkey serve` shows.
class access_rules {
public:
    /// `check_host`: only requests for a loopback address are answered, because a web page of
    /// somebody else can make a browser send requests here under a name of its own (DNS
    /// rebinding). `token`: empty if none is necessary.
    access_rules(bool check_host, std::string token)
        : check_host_(check_host), token_(std::move(token)) {}

    /// Why no request of this kind is answered; nothing if it is.
    [[nodiscard]] std::optional<http_answer> refuse_host(const http_request& r) const;

    /// Why no request for what needs the token is answered; nothing if it is.
    [[nodiscard]] std::optional<http_answer> refuse_stranger(const http_request& r) const;

private:
    const bool check_host_;
    const std::string token_;
};

}  // namespace latchkey::cli
