// SPDX-License-Identifier: Apache-2.0
#include "store/password.hpp"

#include <openssl/evp.h>

#include <array>

#include "base/constant_time.hpp"
#include "base/secret.hpp"

namespace gpufl::store {
namespace {

// "scrypt$15$8$1$SALT$HASH": the logarithm of the cost, the block size, how many of them; all of it
// for those who raise the cost one day.
constexpr std::string_view kPrefix = "scrypt$15$8$1$";
constexpr uint64_t kCost = uint64_t{1} << 15, kBlock = 8, kParallel = 1;
constexpr uint64_t kMostMemory = uint64_t{64} << 20;
constexpr size_t kSaltBytes = 16;
constexpr size_t kHashBytes = 32;

base::Result<std::string> scrypt(std::string_view password, std::string_view salt) {
  std::array<unsigned char, kHashBytes> key{};
  const int done = EVP_PBE_scrypt(password.data(), password.size(),
                                  reinterpret_cast<const unsigned char*>(salt.data()), salt.size(),
                                  kCost, kBlock, kParallel, kMostMemory, key.data(), key.size());
  if (done != 1) {  // its parameters are constants
    return base::Status(base::Code::Unavailable, "there is no memory to hash a password");
  }
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : key) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace

base::Result<std::string> hash_password(std::string_view password) {
  const std::string salt = base::random_hex(kSaltBytes);
  auto hash = scrypt(password, salt);
  if (!hash) return hash;
  return std::string(kPrefix) + salt + "$" + *hash;
}

base::Result<bool> is_password(std::string_view password, std::string_view hash) {
  if (!hash.starts_with(kPrefix)) return false;
  hash.remove_prefix(kPrefix.size());
  const size_t end = hash.find('$');
  if (end == std::string_view::npos) return false;
  const auto asked = scrypt(password, hash.substr(0, end));
  if (!asked) return asked.status();
  return base::equal_in_constant_time(*asked, hash.substr(end + 1));
}

}  // namespace gpufl::store
