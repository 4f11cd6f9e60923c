#include "tls/openssl.hpp"

#include "text/escape.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <ctime>
#include <thread>

#include <openssl/err.h>
#include <pthread.h>

namespace latchkey::inline v0 {
namespace {

std::atomic<int> openssl_users{0};
std::atomic<bool> openssl_ended{false};

extern "C" void end_openssl_use() {
    openssl_ended = true;
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    while (openssl_users > 0 && std::chrono::steady_clock::now() < patience) {
        std::this_thread::yield();
    }
}

/// The threads that used it are not in the child.
extern "C" void forget_openssl_users() {
    openssl_users = 0;
}

bool enter_openssl() noexcept {
    ++openssl_users;
    if (!openssl_ended) {
        return true;
    }
    --openssl_users;
    return false;
}

}  // namespace

const char* const openssl_is_gone = "the program has ended OpenSSL (OPENSSL_cleanup)";

openssl_use::openssl_use() noexcept : entered_(enter_openssl()) {}

openssl_use::~openssl_use() {
    if (entered_) {
        --openssl_users;
    }
}

void prepare_openssl() noexcept {
    static const bool prepared = [] {
        OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, nullptr);
        OPENSSL_atexit(&end_openssl_use);
        ::pthread_atfork(nullptr, nullptr, &forget_openssl_users);
        return true;
    }();
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
