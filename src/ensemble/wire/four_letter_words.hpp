#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace latchkey::model {

class cluster;

/// A server's answer to an operator's `ruok`, `srvr`, `stat` or `isro`. Nothing if it is another
/// word. Empty if the server does not answer.
[[nodiscard]] std::optional<std::string> answer_to_word(std::string_view word,
                                                        cluster& all,
                                                        int server);

}  // namespace latchkey::model
