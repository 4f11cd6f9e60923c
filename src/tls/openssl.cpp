#include "tls/openssl.hpp"

#include "text/escape.hpp"

#include <array>
#include <ctime>

#include <openssl/err.h>

namespace latchkey::inline v0 {

void prepare_openssl() noexcept {
    static const int prepared = OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, nullptr);
    static_cast<void>(prepared);
}

std::string openssl_reason() {
    const unsigned long first = ERR_get_error();
    ERR_clear_error();
    const char* reason = ERR_reason_error_string(first);
    return reason != nullptr ? reason : "unknown reason";
}

std::string text_of(const ASN1_TIME* time) {
    std::tm parts{};
    if (ASN1_TIME_to_tm(time, &parts) != 1) {
        return "an unreadable date";
    }
    std::array<char, 32> text{};
    const auto size = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S GMT", &parts);
    return {text.data(), size};
}

std::string text_of(const X509_NAME* name) {
    const openssl_bio out(BIO_new(BIO_s_mem()));
    X509_NAME_print_ex(out.get(), name, 0, XN_FLAG_RFC2253);
    char* text = nullptr;
    const long size = BIO_get_mem_data(out.get(), &text);
    return size > 0 ? escaped_message({text, static_cast<std::size_t>(size)}) : "no name";
}

}  // namespace latchkey::inline v0
