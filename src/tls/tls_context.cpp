#include "tls/tls_context.hpp"

#include <latchkey/error.hpp>

#include "text/escape.hpp"
#include "tls/openssl.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <sys/stat.h>
#include <unistd.h>

namespace latchkey::inline v0 {
namespace {

/// More than any bundle of authorities.
constexpr std::size_t largest_file = 16U << 20U;

/// Where distributions keep the authorities that they trust.
constexpr std::array<const char*, 4> bundles{"/etc/ssl/certs/ca-certificates.crt",
                                             "/etc/pki/tls/certs/ca-bundle.crt",
                                             "/etc/ssl/ca-bundle.pem",
                                             "/etc/ssl/cert.pem"};

[[noreturn]] void refuse(const std::string& why) {
    throw error(errc::invalid_argument, "TLS: " + why);
}

/// A file in memory, which is overwritten in the end: it may be a key.
class pem_file {
public:
    /// `role` is what the messages call it.
    pem_file(const char* role, std::string name) : role_(role), name_(std::move(name)) {
        // Non-blocking: opening a FIFO must not wait for a writer.
        const int fd = ::open(name_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (fd < 0) {
            refuse_here(std::generic_category().message(errno) +
                        "; give a PEM file that this user can read");
        }
        const bool read = fill(fd);
        ::close(fd);
        if (!read) {
            refuse_here("is not a regular file, or cannot be read; give a PEM file");
        }
        bio_.reset(BIO_new_mem_buf(text_.data(), static_cast<int>(text_.size())));
    }

    pem_file(const pem_file&) = delete;
    pem_file& operator=(const pem_file&) = delete;

    ~pem_file() { ::explicit_bzero(text_.data(), text_.size()); }

    [[noreturn]] void refuse_here(const std::string& why) const {
        refuse(std::string(role_) + " '" + escaped(name_) + "': " + why);
    }

    /// The next certificate; null if there is none.
    [[nodiscard]] openssl_certificate certificate() {
        openssl_certificate one(PEM_read_bio_X509(bio_.get(), nullptr, &no_passphrase, nullptr));
        const auto why = ERR_peek_last_error();
        if (one == nullptr && ERR_GET_REASON(why) != PEM_R_NO_START_LINE) {
            refuse_here("holds a broken certificate (" + openssl_reason() + ")");
        }
        ERR_clear_error();
        return one;
    }

    [[nodiscard]] openssl_key key() {
        openssl_key one(PEM_read_bio_PrivateKey(bio_.get(), nullptr, &no_passphrase, nullptr));
        if (one != nullptr) {
            return one;
        }
        const std::string why = openssl_reason();
        if (text_.find("ENCRYPTED") != std::string::npos) {
            refuse_here(
                "the private key has a passphrase; write it without one, in a file that "
                "only this user can read: openssl pkey -in FILE -out NEW");
        }
        refuse_here("holds no private key in PEM form (" + why + ")");
    }

private:
    static int no_passphrase(char*, int, int, void*) { return -1; }

    [[nodiscard]] bool fill(int fd) {
        struct stat status {};

        if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) ||
            static_cast<std::size_t>(status.st_size) > largest_file) {
            return false;
        }
        text_.resize(static_cast<std::size_t>(status.st_size));
        std::size_t have = 0;
        while (have < text_.size()) {
            const auto got = ::read(fd, text_.data() + have, text_.size() - have);
            if (got < 0) {
                return false;
            }
            if (got == 0) {
                break;
            }
            have += static_cast<std::size_t>(got);
        }
        text_.resize(have);
        return true;
    }

    const char* role_;
    std::string name_;
    std::string text_;
    openssl_bio bio_;
};

std::string system_bundle() {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing in here changes the environment
    if (const char* named = std::getenv("SSL_CERT_FILE"); named != nullptr && *named != '\0') {
        return named;
    }
    for (const char* one : bundles) {
        if (::access(one, R_OK) == 0) {
            return one;
        }
    }
    refuse("the system has no file of authorities; install ca-certificates, or give a CA file");
}

void trust(SSL_CTX& context, const char* role, const std::string& name) {
    pem_file file(role, name);
    X509_STORE* store = SSL_CTX_get_cert_store(&context);
    int count = 0;
    while (const auto one = file.certificate()) {
        X509_STORE_add_cert(store, one.get());
        ++count;
    }
    if (count == 0) {
        file.refuse_here("holds no certificate in PEM form");
    }
}

void check_dates(const pem_file& file, const X509& own) {
    if (X509_cmp_current_time(X509_get0_notAfter(&own)) < 0) {
        file.refuse_here("the client's certificate expired on " +
                         text_of(X509_get0_notAfter(&own)) + "; replace it");
    }
    if (X509_cmp_current_time(X509_get0_notBefore(&own)) > 0) {
        file.refuse_here("the client's certificate is not valid before " +
                         text_of(X509_get0_notBefore(&own)) + "; check this machine's clock");
    }
}

void present(SSL_CTX& context, const tls_options& options) {
    pem_file file("certificate file", options.certificate_file);
    const auto own = file.certificate();
    if (own == nullptr) {
        file.refuse_here("holds no certificate in PEM form");
    }
    check_dates(file, *own);
    if (SSL_CTX_use_certificate(&context, own.get()) != 1) {
        file.refuse_here("OpenSSL refuses the certificate: " + openssl_reason());
    }
    while (const auto next = file.certificate()) {
        SSL_CTX_add1_chain_cert(&context, next.get());
    }
    const bool apart = !options.key_file.empty();
    pem_file key_file(apart ? "key file" : "certificate file",
                      apart ? options.key_file : options.certificate_file);
    const auto key = key_file.key();
    if (X509_check_private_key(own.get(), key.get()) != 1) {
        key_file.refuse_here("the private key is not that of the certificate in '" +
                             escaped(options.certificate_file) +
                             "'; give the two that belong "
                             "together");
    }
    if (SSL_CTX_use_PrivateKey(&context, key.get()) != 1) {
        key_file.refuse_here("OpenSSL refuses the key: " + openssl_reason());
    }
}

}  // namespace

std::shared_ptr<ssl_ctx_st> make_tls_context(const tls_options& options) {
    if (options.ca_file.empty() && !options.system_authorities) {
        refuse(
            "no authority is trusted; give a CA file, the certificate of the authority that signs "
            "for the servers");
    }
    if (!options.key_file.empty() && options.certificate_file.empty()) {
        refuse("key file '" + escaped(options.key_file) +
               "' is given without a certificate file; give both");
    }
    prepare_openssl();
    const openssl_use use;
    if (!use) {
        refuse(openssl_is_gone);
    }
    ERR_clear_error();
    std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_client_method()), [](SSL_CTX* made) {
        if (const openssl_use freeing; freeing) {
            SSL_CTX_free(made);
        }
    });
    if (context == nullptr || SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION) != 1) {
        refuse("OpenSSL cannot be used: " + openssl_reason());
    }
    SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET);
    SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
    SSL_CTX_set_mode(context.get(),
                     SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                         SSL_MODE_RELEASE_BUFFERS);
    // An authority in the file is trusted even if another one has signed for it.
    X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context.get()), X509_V_FLAG_PARTIAL_CHAIN);
    if (!options.ca_file.empty()) {
        trust(*context, "CA file", options.ca_file);
    }
    if (options.system_authorities) {
        trust(*context, "system's CA file", system_bundle());
    }
    if (!options.certificate_file.empty()) {
        present(*context, options);
    }
    return context;
}

std::vector<std::string> tls_files(const tls_options& options) {
    std::vector<std::string> all;
    for (const auto* one : {&options.ca_file, &options.certificate_file, &options.key_file}) {
        if (!one->empty()) {
            all.push_back(*one);
        }
    }
    if (options.system_authorities) {
        all.push_back(system_bundle());
    }
    return all;
}

}  // namespace latchkey::inline v0
