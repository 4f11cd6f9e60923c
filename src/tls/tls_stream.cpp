#include "tls/tls_stream.hpp"

#include "text/escape.hpp"
#include "tls/openssl.hpp"
#include "tls/server_certificate.hpp"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <new>
#include <system_error>

#include <openssl/err.h>

namespace latchkey::inline v0 {
namespace {

using step = tls_stream::step;

int bounded(std::size_t size) noexcept {
    return static_cast<int>(std::min<std::size_t>(size, std::numeric_limits<int>::max()));
}

/// Errors that show that what answered is no TLS.
bool is_not_tls(int reason) noexcept {
    return reason == SSL_R_WRONG_VERSION_NUMBER || reason == SSL_R_HTTP_REQUEST ||
           reason == SSL_R_HTTPS_PROXY_REQUEST || reason == SSL_R_PACKET_LENGTH_TOO_LONG ||
           reason == SSL_R_RECORD_LENGTH_MISMATCH;
}

}  // namespace

/// What OpenSSL calls. No exception may leave these functions.
struct tls_stream::callbacks {
    /// Notes the first certificate that does not pass: OpenSSL forgets it.
    static int verified(int passes, X509_STORE_CTX* at) noexcept {
        if (passes != 1) {
            const int place = SSL_get_ex_data_X509_STORE_CTX_idx();
            auto* ssl = static_cast<SSL*>(X509_STORE_CTX_get_ex_data(at, place));
            auto* self = static_cast<tls_stream*>(SSL_get_app_data(ssl));
            try {
                if (self->refused_.empty()) {
                    self->refused_ = why_refused(*at, self->server_);
                }
            } catch (const std::bad_alloc&) {
                return passes;
            }
        }
        return passes;
    }

    /// The server asks for a certificate. Goes on with the one that is configured, or without.
    static int certificate_wanted(SSL* ssl, void*) noexcept {
        static_cast<tls_stream*>(SSL_get_app_data(ssl))->asked_for_certificate_ = true;
        return 1;
    }
};

tls_stream::tls_stream(const tls_identity& identity, int socket, const std::string& server)
    : server_(server),
      has_certificate_(!identity.options().certificate_file.empty()),
      context_(identity.context()) {
    const openssl_use use;
    if (!use) {
        throw std::system_error(ECANCELED, std::generic_category(), openssl_is_gone);
    }
    openssl_connection made(SSL_new(context_.get()));
    if (made == nullptr || SSL_set_fd(made.get(), socket) != 1) {
        throw std::system_error(ENOMEM, std::generic_category(), "TLS");
    }
    SSL_set_app_data(made.get(), this);
    SSL_set_cert_cb(made.get(), &callbacks::certificate_wanted, nullptr);
    SSL_set_verify(made.get(), SSL_VERIFY_PEER, &callbacks::verified);
    expect_server(*made, server_);
    SSL_set_connect_state(made.get());
    ssl_ = made.release();
}

tls_stream::~tls_stream() {
    if (const openssl_use use; use) {
        SSL_free(ssl_);
    }
}

tls_stream::step tls_stream::shake_hands() {
    const openssl_use use;
    if (!use) {
        return gone();
    }
    ERR_clear_error();
    errno = 0;
    const int result = SSL_do_handshake(ssl_);
    if (result == 1) {
        shaken_ = true;
        return step::done;
    }
    const step now = outcome(result);
    if (now == step::ended) {
        failure_ = "the server closed the connection during the TLS handshake; " +
                   (asked_for_certificate_ && !has_certificate_
                        ? hint()
                        : "its port may be one without TLS, or it does not accept this client");
        return step::failed;
    }
    return now;
}

tls_stream::transfer tls_stream::read(char* to, std::size_t size) {
    const openssl_use use;
    if (!use) {
        return {gone(), 0};
    }
    ERR_clear_error();
    errno = 0;
    const int result = SSL_read(ssl_, to, bounded(size));
    if (result > 0) {
        return {step::done, static_cast<std::size_t>(result)};
    }
    const step now = outcome(result);
    if (now == step::ended) {
        failure_ = hint();
        if (!failure_.empty()) {
            failure_.insert(0, "the server closed the connection; ");
        }
    }
    return {now, 0};
}

tls_stream::transfer tls_stream::write(const char* from, std::size_t size) {
    const openssl_use use;
    if (!use) {
        return {gone(), 0};
    }
    ERR_clear_error();
    errno = 0;
    const int result = SSL_write(ssl_, from, bounded(size));
    return result > 0 ? transfer{step::done, static_cast<std::size_t>(result)}
                      : transfer{outcome(result), 0};
}

void tls_stream::end() noexcept {
    if (const openssl_use use; use && shaken_ && failure_.empty()) {
        ERR_clear_error();
        SSL_shutdown(ssl_);
        ERR_clear_error();
    }
}

tls_stream::step tls_stream::gone() {
    failure_ = openssl_is_gone;
    return step::failed;
}

/// What a call that did not succeed means.
tls_stream::step tls_stream::outcome(int result) {
    const int system_error = errno;
    const int kind = SSL_get_error(ssl_, result);
    if (kind == SSL_ERROR_WANT_READ) {
        return step::wants_read;
    }
    if (kind == SSL_ERROR_WANT_WRITE) {
        return step::wants_write;
    }
    const unsigned long error = ERR_peek_error();
    const bool cut_short =
        kind == SSL_ERROR_SSL && ERR_GET_REASON(error) == SSL_R_UNEXPECTED_EOF_WHILE_READING;
    if (kind == SSL_ERROR_ZERO_RETURN || cut_short ||
        (kind == SSL_ERROR_SYSCALL && system_error == 0)) {
        return step::ended;  // frames show what is missing
    }
    if (kind == SSL_ERROR_SYSCALL) {
        failure_ = std::generic_category().message(system_error);
        if (!shaken_) {
            failure_ += " during the TLS handshake";
        }
        if (const auto why = hint(); !why.empty()) {
            failure_ += "; " + why;
        }
    } else {
        failure_ = reason(error);
    }
    ERR_clear_error();
    return step::failed;
}

/// What may be wrong when a server ends the connection without a reason.
std::string tls_stream::hint() const {
    if (!asked_for_certificate_) {
        return {};
    }
    return has_certificate_ ? own_certificate()
                            : "it asks for a client's certificate: give a certificate file and "
                              "its key";
}

std::string tls_stream::reason(unsigned long error) const {
    const int why = ERR_GET_REASON(error);
    if (!refused_.empty()) {
        return "TLS: " + refused_;
    }
    if (why >= SSL_AD_REASON_OFFSET && ERR_GET_LIB(error) == ERR_LIB_SSL) {
        return "TLS: " + reason_of_alert(why - SSL_AD_REASON_OFFSET);
    }
    if (is_not_tls(why)) {
        return "TLS: the server does not speak TLS on this port";
    }
    if (why == SSL_R_UNSUPPORTED_PROTOCOL) {
        return "TLS: the server does not speak TLS 1.2 or newer";
    }
    const char* words = ERR_reason_error_string(error);
    return std::string("TLS: ") + (words != nullptr ? words : "failed for an unknown reason");
}

/// Servers say little, and each says something else.
std::string tls_stream::reason_of_alert(int alert) const {
    const std::string words = std::string(" (alert: ") + SSL_alert_desc_string_long(alert) + ")";
    const bool missing = asked_for_certificate_ && !has_certificate_;
    switch (alert) {
        case SSL_AD_PROTOCOL_VERSION:
            return "the server does not speak TLS 1.2 or newer" + words;
        case SSL_AD_UNRECOGNIZED_NAME:
            return "the server has no certificate for " + escaped(server_) + words;
        case SSL_AD_UNKNOWN_CA:
            return "the server does not trust the authority of the client's certificate" + words;
        case SSL_AD_CERTIFICATE_EXPIRED:
        case SSL_AD_CERTIFICATE_REVOKED:
        case SSL_AD_CERTIFICATE_UNKNOWN:
        case SSL_AD_UNSUPPORTED_CERTIFICATE:
        case SSL_AD_BAD_CERTIFICATE:
        case SSL_AD_CERTIFICATE_REQUIRED:
        case SSL_AD_HANDSHAKE_FAILURE:
        case SSL_AD_ACCESS_DENIED:
            if (missing) {
                return "the server requires a client's certificate: give a certificate file and "
                       "its key" +
                       words;
            }
            if (asked_for_certificate_) {
                return "the server does not accept the client's certificate" + words + "; " +
                       own_certificate();
            }
            [[fallthrough]];
        default:
            return "the server refused the connection" + words;
    }
}

std::string tls_stream::own_certificate() const {
    const X509* own = SSL_get_certificate(ssl_);
    if (own == nullptr) {
        return "the client has none";
    }
    const auto* end = X509_get0_notAfter(own);
    const bool expired = X509_cmp_current_time(end) < 0;
    return "the client's certificate is that of " + text_of(X509_get_subject_name(own)) +
           (expired ? ", and expired on " : ", valid until ") + text_of(end);
}

}  // namespace latchkey::inline v0
