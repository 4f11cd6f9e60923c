#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace latchkey::model {

class cluster;

/// What a server answers to an operator's `ruok`, `srvr`, `stat` or `isro`; none if it is no such
/// word. Empty: it does not answer.
[[nodiscard]] std::optional<std::string> answer_to_word(std::string_view word,
                                                        cluster& all,
                                                        int server);

}  // namespace latchkey::model
