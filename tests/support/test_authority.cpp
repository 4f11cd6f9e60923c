#include "test_authority.hpp"

#include <cstdlib>
#include <fstream>
#include <memory>
#include <random>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

namespace latchkey::test {
namespace {

template <auto release>
struct released {
    template <class T>
    void operator()(T* object) const noexcept {
        release(object);
    }
};

using bio = std::unique_ptr<BIO, released<&BIO_free_all>>;
using private_key = std::unique_ptr<EVP_PKEY, released<&EVP_PKEY_free>>;
using x509_certificate = std::unique_ptr<X509, released<&X509_free>>;
using extension = std::unique_ptr<X509_EXTENSION, released<&X509_EXTENSION_free>>;

void require(bool done, const char* what) {
    if (!done) {
        throw std::runtime_error(what);
    }
}

std::string text_in(BIO* from) {
    char* text = nullptr;
    const long size = BIO_get_mem_data(from, &text);
    return {text, static_cast<std::size_t>(size)};
}

std::string pem_of(X509& certificate) {
    const bio out(BIO_new(BIO_s_mem()));
    require(PEM_write_bio_X509(out.get(), &certificate) == 1, "PEM_write_bio_X509");
    return text_in(out.get());
}

std::string pem_of(EVP_PKEY& key) {
    const bio out(BIO_new(BIO_s_mem()));
    require(
        PEM_write_bio_PKCS8PrivateKey(out.get(), &key, nullptr, nullptr, 0, nullptr, nullptr) == 1,
        "PEM_write_bio_PKCS8PrivateKey");
    return text_in(out.get());
}

private_key key_from(const std::string& pem) {
    const bio in(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
    return private_key(PEM_read_bio_PrivateKey(in.get(), nullptr, nullptr, nullptr));
}

x509_certificate certificate_from(const std::string& pem) {
    const bio in(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
    return x509_certificate(PEM_read_bio_X509(in.get(), nullptr, nullptr, nullptr));
}

void extend(X509& certificate, X509* issuer, int what, const std::string& value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, &certificate, nullptr, nullptr, 0);
    const extension one(X509V3_EXT_conf_nid(nullptr, &context, what, value.c_str()));
    require(one != nullptr && X509_add_ext(&certificate, one.get(), -1) == 1, value.c_str());
}

std::int64_t random_number() {
    std::random_device device;
    return (std::int64_t{device()} << 16) ^ device();
}

/// An unsigned certificate with the key in it.
x509_certificate draft(const test_authority::wish& what, EVP_PKEY& key) {
    x509_certificate one(X509_new());
    X509_set_version(one.get(), 2);
    ASN1_INTEGER_set_int64(X509_get_serialNumber(one.get()), random_number());
    X509_gmtime_adj(X509_getm_notBefore(one.get()), what.from.count());
    X509_gmtime_adj(X509_getm_notAfter(one.get()), what.until.count());
    X509_set_pubkey(one.get(), &key);
    const auto* name = reinterpret_cast<const unsigned char*>(what.subject.c_str());
    X509_NAME* subject = X509_get_subject_name(one.get());
    require(X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, name, -1, -1, 0) == 1, "CN");
    return one;
}

}  // namespace

test_authority::test_authority(const std::string& name) : name_(name) {
    const private_key key(EVP_EC_gen("P-256"));
    const auto one = draft({.subject = name}, *key);
    X509_set_issuer_name(one.get(), X509_get_subject_name(one.get()));
    extend(*one, one.get(), NID_basic_constraints, "critical,CA:TRUE");
    extend(*one, one.get(), NID_subject_key_identifier, "hash");
    require(X509_sign(one.get(), key.get(), EVP_sha256()) > 0, "X509_sign");
    own_ = {pem_of(*one), pem_of(*key)};
}

test_certificate test_authority::issue(const wish& what) const {
    const private_key key(EVP_EC_gen("P-256"));
    const auto issuer = certificate_from(own_.certificate);
    const auto one = draft(what, *key);
    X509_set_issuer_name(one.get(), X509_get_subject_name(issuer.get()));
    extend(*one, issuer.get(), NID_basic_constraints, "CA:FALSE");
    if (!what.names.empty()) {
        extend(*one, issuer.get(), NID_subject_alt_name, what.names);
    }
    if (!what.purpose.empty()) {
        extend(*one, issuer.get(), NID_ext_key_usage, what.purpose);
    }
    require(X509_sign(one.get(), key_from(own_.key).get(), EVP_sha256()) > 0, "X509_sign");
    return {pem_of(*one), pem_of(*key)};
}

test_folder::test_folder() {
    auto name = (std::filesystem::temp_directory_path() / "tlsXXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
        throw std::system_error(errno, std::generic_category(), name);
    }
    path_ = name;
}

test_folder::~test_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::string test_folder::write(const std::string& name, const std::string& text) const {
    const auto fresh = path_ / (name + ".new");
    std::ofstream(fresh) << text;
    std::filesystem::rename(fresh, path_ / name);
    return path_ / name;
}

}  // namespace latchkey::test
