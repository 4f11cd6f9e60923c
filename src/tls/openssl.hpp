#pragma once

#include <latchkey/export.hpp>

#include <memory>
#include <string>

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

namespace latchkey::inline v0 {

template <auto release>
struct openssl_deleter {
    template <class T>
    void operator()(T* object) const noexcept {
        release(object);
    }
};

using openssl_bio = std::unique_ptr<BIO, openssl_deleter<&BIO_free_all>>;
using openssl_certificate = std::unique_ptr<X509, openssl_deleter<&X509_free>>;
using openssl_key = std::unique_ptr<EVP_PKEY, openssl_deleter<&EVP_PKEY_free>>;
using openssl_names = std::unique_ptr<GENERAL_NAMES, openssl_deleter<&GENERAL_NAMES_free>>;
using openssl_connection = std::unique_ptr<SSL, openssl_deleter<&SSL_free>>;

/// Before anything else of OpenSSL. OpenSSL frees its state at the end of the process if the
/// program used it before this library did, and never because of this library: clients may live as
/// long as statics.
LATCHKEY_EXPORT_FOR_TESTING void prepare_openssl() noexcept;

/// Everything that calls OpenSSL has one of these meanwhile. Another thread that ends the process
/// waits for it, for a second at most, before OpenSSL frees its state.
class LATCHKEY_EXPORT_FOR_TESTING openssl_use {
public:
    openssl_use() noexcept;
    openssl_use(const openssl_use&) = delete;
    openssl_use& operator=(const openssl_use&) = delete;
    ~openssl_use();

    /// False: the state is gone. Do not call OpenSSL, and leave its objects undestroyed.
    explicit operator bool() const noexcept { return entered_; }

private:
    const bool entered_;
};

/// For people.
extern const char* const openssl_is_gone;

/// The first of the errors that OpenSSL has noted on this thread, in its words; forgets them all.
[[nodiscard]] std::string openssl_reason();

/// "2026-11-23 09:18:27 GMT".
[[nodiscard]] std::string text_of(const ASN1_TIME* time);

/// "CN=zk1,O=Example" in the order of RFC 2253, escaped.
[[nodiscard]] std::string text_of(const X509_NAME* name);

}  // namespace latchkey::inline v0
