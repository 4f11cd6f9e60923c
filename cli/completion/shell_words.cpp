#include "completion/shell_words.hpp"

#include <string_view>

namespace latchkey::cli {

namespace {

/// Characters that mean nothing to a shell, wherever they stand in a word.
bool is_plain(char c) {
    constexpr std::string_view others = "/._-+,:@%=";
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           static_cast<unsigned char>(c) >= 0x80 || others.find(c) != std::string_view::npos;
}

}  // namespace

typed_word read_typed_word(const std::string& raw) {
    constexpr std::string_view escaped_in_double = "$`\"\\";
    std::string text;
    char quote = 0;
    for (std::size_t i = 0; i < raw.size(); ++i) {
        const bool follows = i + 1 < raw.size();
        if (quote == 0 && (raw[i] == '\'' || raw[i] == '"')) {
            quote = raw[i];
        } else if (quote != 0 && raw[i] == quote) {
            quote = 0;
        } else if (raw[i] == '\\' && quote == 0) {
            if (follows) {
                text += raw[++i];
            }
        } else if (raw[i] == '\\' && quote == '"' && follows &&
                   escaped_in_double.find(raw[i + 1]) != std::string_view::npos) {
            text += raw[++i];
        } else {
            text += raw[i];
        }
    }
    return {text, quote != 0 && raw.front() == quote ? quote : '\0'};
}

std::optional<std::string> quoted_like(const typed_word& like, const std::string& text) {
    // In double quotes an interactive bash replaces "!", and nothing there keeps it from that.
    const char never = like.open == '"' ? '!' : like.open;
    if (like.open != 0 && text.find(never) != std::string::npos) {
        return std::nullopt;
    }
    if (like.open == '\'') {
        return text;
    }
    std::string quoted;
    for (const char c : text) {
        const bool special =
            like.open == '"' ? c == '$' || c == '`' || c == '"' || c == '\\' : !is_plain(c);
        quoted += special ? std::string{'\\', c} : std::string{c};
    }
    return quoted;
}

}  // namespace latchkey::cli
