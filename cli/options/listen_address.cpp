#include "options/listen_address.hpp"

#include "options/number_text.hpp"
#include "output/exit_status.hpp"
#include "text/escape.hpp"

#include <optional>
#include <string_view>

#include <fmt/format.h>

namespace latchkey::cli {

listen_address listen_address::from(const std::string& text, const char* example) {
    const std::size_t colon = text.rfind(':');
    const auto port =
        colon == std::string::npos
            ? std::nullopt
            : number_in<std::uint16_t>(std::string_view(text).substr(colon + 1), 0, 65535);
    std::string host = text.substr(0, colon);
    if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
        host = host.substr(1, host.size() - 2);
    }
    if (!port || host.empty()) {
        throw usage_error(fmt::format(
            "--listen: '{}' is not HOST:PORT; give for example {}", escaped(text), example));
    }
    return {std::move(host), *port};
}

}  // namespace latchkey::cli
