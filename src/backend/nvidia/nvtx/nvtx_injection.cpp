// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/nvtx/nvtx_injection.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>

#include "backend/markers/marker_recorder.hpp"
#include "base/utf8.hpp"

namespace gpufl::backend {
namespace {

using marker_recorder::g_domains;
using marker_recorder::g_kept_texts;
using marker_recorder::g_messages;
using marker_recorder::Label;
using marker_recorder::MarkerEvent;
using marker_recorder::MarkerEventKind;
using marker_recorder::MarkerRing;
using marker_recorder::PayloadKind;
using marker_recorder::RangeId;
using marker_recorder::record;

constexpr const char* kPathVariable = "NVTX_INJECTION64_PATH";
constexpr const char* kEntryPoint = "InitializeInjectionNvtx2";
constexpr size_t kMaxWideBytes = 4096;  // of a wide text as UTF-8; on the caller's stack

constinit std::atomic<uint32_t> g_copies{0};  // of NVTX that came to us

uint32_t intern(base::Interner& texts, const char* text) {
  return text == nullptr ? base::Interner::kEmptyId : texts.intern(text);
}

uint32_t intern(base::Interner& texts, const wchar_t* text) {
  if (text == nullptr) return base::Interner::kEmptyId;
  char bytes[kMaxWideBytes];
  return texts.intern({bytes, base::encode_utf8(text, bytes)});
}

// Handles are ids in disguise. What is not one of ours becomes no text, and no domain.
template <typename Handle>
uint32_t id_of(Handle handle, const base::Interner& texts) {
  const auto id = reinterpret_cast<uintptr_t>(handle);
  return id < texts.size() ? static_cast<uint32_t>(id) : base::Interner::kEmptyId;
}

template <typename Handle>
Handle handle_of(uint32_t id) {
  return reinterpret_cast<Handle>(uintptr_t{id});  // NOLINT(performance-no-int-to-ptr)
}

uint16_t domain_of(nvtxDomainHandle_t handle) {
  return static_cast<uint16_t>(id_of(handle, g_domains));
}

uint32_t message_of(const nvtxEventAttributes_t& attributes) {
  switch (attributes.messageType) {
    case NVTX_MESSAGE_TYPE_ASCII: return intern(g_messages, attributes.message.ascii);
    case NVTX_MESSAGE_TYPE_UNICODE: return intern(g_messages, attributes.message.unicode);
    case NVTX_MESSAGE_TYPE_REGISTERED:
      return id_of(attributes.message.registered, g_kept_texts) | marker_recorder::kKeptText;
    default: return base::Interner::kEmptyId;
  }
}

void set_payload(const nvtxEventAttributes_t& attributes, MarkerEvent& event) {
  const auto& payload = attributes.payload;
  const auto set = [&](PayloadKind kind, auto value) {
    event.payload_kind = kind;
    std::memcpy(&event.payload, &value, sizeof(value));
  };
  switch (attributes.payloadType) {
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT64: return set(PayloadKind::Unsigned, payload.ullValue);
    case NVTX_PAYLOAD_TYPE_INT64: return set(PayloadKind::Signed, payload.llValue);
    case NVTX_PAYLOAD_TYPE_DOUBLE: return set(PayloadKind::Double, payload.dValue);
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT32:
      return set(PayloadKind::Unsigned, uint64_t{payload.uiValue});
    case NVTX_PAYLOAD_TYPE_INT32: return set(PayloadKind::Signed, int64_t{payload.iValue});
    case NVTX_PAYLOAD_TYPE_FLOAT: return set(PayloadKind::Float, payload.fValue);
    default: return;  // none, or of an extension
  }
}

MarkerEvent event_of(MarkerEventKind kind, nvtxDomainHandle_t domain,
                     const nvtxEventAttributes_t* attributes) {
  MarkerEvent event{};
  event.kind = kind;
  event.domain = domain_of(domain);
  if (attributes == nullptr) return event;
  if (kind == MarkerEventKind::Push) event.range = marker_recorder::stack_for(event.domain);
  event.text = message_of(*attributes);
  event.category = attributes->category;
  if (attributes->colorType == NVTX_COLOR_ARGB) event.color = attributes->color;
  set_payload(*attributes, event);
  return event;
}

template <typename Char>
MarkerEvent event_of(MarkerEventKind kind, const Char* message) {
  MarkerEvent event{};
  event.kind = kind;
  event.text = intern(g_messages, message);
  return event;
}

template <typename... Arguments>
void NVTX_API mark(Arguments... arguments) {
  record(0, [&](MarkerRing& ring, uint32_t session) {
    ring.mark(session, event_of(MarkerEventKind::Mark, arguments...));
    return 0;
  });
}

template <typename... Arguments>
int NVTX_API push(Arguments... arguments) {
  return record(NVTX_NO_PUSH_POP_TRACKING, [&](MarkerRing& ring, uint32_t session) {
    return ring.push(session, event_of(MarkerEventKind::Push, arguments...));
  });
}

int NVTX_API pop(nvtxDomainHandle_t domain) {
  return record(NVTX_NO_PUSH_POP_TRACKING, [&](MarkerRing& ring, uint32_t session) {
    return ring.pop(session, domain_of(domain));
  });
}

template <typename... Arguments>
nvtxRangeId_t NVTX_API start(Arguments... arguments) {
  return record(nvtxRangeId_t{0}, [&](MarkerRing& ring, uint32_t session) {
    return ring.start(session, event_of(MarkerEventKind::Start, arguments...)).bits;
  });
}

void NVTX_API end(nvtxRangeId_t id) {
  record(0, [&](MarkerRing& ring, uint32_t session) {
    // Else it began before the session, or was dropped.
    if (RangeId{id}.session() == (session & 0xffff)) ring.end(session, RangeId{id});
    return 0;
  });
}

template <typename Char>
void NVTX_API name_category(nvtxDomainHandle_t domain, uint32_t category, const Char* name) {
  marker_recorder::add_label(Label::Kind::Category, domain_of(domain), category,
                             intern(g_kept_texts, name));
}

template <typename Char>
void NVTX_API name_thread(uint32_t thread, const Char* name) {
  marker_recorder::add_label(Label::Kind::Thread, 0, thread, intern(g_kept_texts, name));
}

template <typename Char>
nvtxStringHandle_t NVTX_API register_string(nvtxDomainHandle_t /*domain*/, const Char* text) {
  return handle_of<nvtxStringHandle_t>(intern(g_kept_texts, text));
}

// One domain for a name, whichever copy of NVTX asks. Handles outlive nvtxDomainDestroy, which is
// left out below.
template <typename Char>
nvtxDomainHandle_t NVTX_API create_domain(const Char* name) {
  return handle_of<nvtxDomainHandle_t>(marker_recorder::add_domain(intern(g_domains, name)));
}

// What NVTX hands out for one module: places of function pointers, by number. Those left alone
// become calls that do nothing.
class FunctionTable {
 public:
  FunctionTable(const NvtxExportTableCallbacks& callbacks, NvtxCallbackModule module) {
    if (callbacks.GetModuleFunctionTable(module, &places_, &size_) == 0) size_ = 0;
  }
  bool is_empty() const { return size_ == 0; }
  // `function` has exactly the type that NVTX calls it by.
  template <typename Type>
  void set(unsigned number, std::type_identity_t<Type> function) {
    if (number >= size_ || places_[number] == nullptr) return;
    *places_[number] = reinterpret_cast<NvtxFunctionPointer>(function);
  }

 private:
  NvtxFunctionTable places_ = nullptr;
  unsigned size_ = 0;
};

void fill_core(FunctionTable& table) {
  using Attributes = const nvtxEventAttributes_t*;
  table.set<nvtxMarkEx_impl_fntype>(NVTX_CBID_CORE_MarkEx,
                                    [](Attributes attributes) { mark(nullptr, attributes); });
  table.set<nvtxMarkA_impl_fntype>(NVTX_CBID_CORE_MarkA, mark<const char*>);
  table.set<nvtxMarkW_impl_fntype>(NVTX_CBID_CORE_MarkW, mark<const wchar_t*>);
  table.set<nvtxRangeStartEx_impl_fntype>(NVTX_CBID_CORE_RangeStartEx, [](Attributes attributes) {
    return start(nullptr, attributes);
  });
  table.set<nvtxRangeStartA_impl_fntype>(NVTX_CBID_CORE_RangeStartA, start<const char*>);
  table.set<nvtxRangeStartW_impl_fntype>(NVTX_CBID_CORE_RangeStartW, start<const wchar_t*>);
  table.set<nvtxRangeEnd_impl_fntype>(NVTX_CBID_CORE_RangeEnd, end);
  table.set<nvtxRangePushEx_impl_fntype>(
      NVTX_CBID_CORE_RangePushEx, [](Attributes attributes) { return push(nullptr, attributes); });
  table.set<nvtxRangePushA_impl_fntype>(NVTX_CBID_CORE_RangePushA, push<const char*>);
  table.set<nvtxRangePushW_impl_fntype>(NVTX_CBID_CORE_RangePushW, push<const wchar_t*>);
  table.set<nvtxRangePop_impl_fntype>(NVTX_CBID_CORE_RangePop, [] { return pop(nullptr); });
  table.set<nvtxNameCategoryA_impl_fntype>(
      NVTX_CBID_CORE_NameCategoryA,
      [](uint32_t category, const char* name) { name_category(nullptr, category, name); });
  table.set<nvtxNameCategoryW_impl_fntype>(
      NVTX_CBID_CORE_NameCategoryW,
      [](uint32_t category, const wchar_t* name) { name_category(nullptr, category, name); });
  table.set<nvtxNameOsThreadA_impl_fntype>(NVTX_CBID_CORE_NameOsThreadA, name_thread<char>);
  table.set<nvtxNameOsThreadW_impl_fntype>(NVTX_CBID_CORE_NameOsThreadW, name_thread<wchar_t>);
}

void fill_core2(FunctionTable& table) {
  using Domain = nvtxDomainHandle_t;
  using Attributes = const nvtxEventAttributes_t*;
  table.set<nvtxDomainMarkEx_impl_fntype>(NVTX_CBID_CORE2_DomainMarkEx, mark<Domain, Attributes>);
  table.set<nvtxDomainRangeStartEx_impl_fntype>(NVTX_CBID_CORE2_DomainRangeStartEx,
                                                start<Domain, Attributes>);
  table.set<nvtxDomainRangeEnd_impl_fntype>(NVTX_CBID_CORE2_DomainRangeEnd,
                                            [](Domain, nvtxRangeId_t id) { end(id); });
  table.set<nvtxDomainRangePushEx_impl_fntype>(NVTX_CBID_CORE2_DomainRangePushEx,
                                               push<Domain, Attributes>);
  table.set<nvtxDomainRangePop_impl_fntype>(NVTX_CBID_CORE2_DomainRangePop, pop);
  table.set<nvtxDomainNameCategoryA_impl_fntype>(NVTX_CBID_CORE2_DomainNameCategoryA,
                                                 name_category<char>);
  table.set<nvtxDomainNameCategoryW_impl_fntype>(NVTX_CBID_CORE2_DomainNameCategoryW,
                                                 name_category<wchar_t>);
  table.set<nvtxDomainRegisterStringA_impl_fntype>(NVTX_CBID_CORE2_DomainRegisterStringA,
                                                   register_string<char>);
  table.set<nvtxDomainRegisterStringW_impl_fntype>(NVTX_CBID_CORE2_DomainRegisterStringW,
                                                   register_string<wchar_t>);
  table.set<nvtxDomainCreateA_impl_fntype>(NVTX_CBID_CORE2_DomainCreateA, create_domain<char>);
  table.set<nvtxDomainCreateW_impl_fntype>(NVTX_CBID_CORE2_DomainCreateW, create_domain<wchar_t>);
}

// The shared object that this code is in. By what is private to this file: another copy of us may
// have the exported names. Empty: it is the program itself, or cannot be told.
std::string own_path() {
  Dl_info own{};
  if (dladdr(&g_copies, &own) == 0) return {};
  // The program may change its folder before its first call of NVTX.
  char* absolute = realpath(own.dli_fname, nullptr);
  std::string path = absolute != nullptr ? absolute : own.dli_fname;
  std::free(absolute);
  return path;
}

// Whether `path` is a shared object of this project: NVTX finds us there, or a copy of us that
// passes it on to the one that has the session.
bool leads_to_us(const char* path) {
  constexpr std::string_view kOurs = "libgpufl";
  const std::string_view name(basename(path));
  return name.substr(0, kOurs.size()) == kOurs || path == own_path();
}

// Whether `path` is a shared object that is loaded, and that NVTX can call.
bool is_callable(const char* path) {
  void* library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return false;
  const bool callable = dlsym(library, kEntryPoint) != nullptr;
  dlclose(library);
  return callable;
}

}  // namespace

static_assert(std::is_same_v<AnnotationTables, NvtxGetExportTableFunc_t>);

int start_nvtx_injection(AnnotationTables get_export_table) {
  if (get_export_table == nullptr) return 0;
  const auto* callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_export_table(NVTX_ETID_CALLBACKS));
  if (callbacks == nullptr || callbacks->struct_size < sizeof(*callbacks)) return 0;
  FunctionTable core(*callbacks, NVTX_CB_MODULE_CORE);
  if (core.is_empty()) return 0;
  fill_core(core);
  FunctionTable core2(*callbacks, NVTX_CB_MODULE_CORE2);  // empty in the oldest versions
  fill_core2(core2);
  const auto* version =
      static_cast<const NvtxExportTableVersionInfo*>(get_export_table(NVTX_ETID_VERSIONINFO));
  if (version != nullptr && version->struct_size >= sizeof(*version)) {
    version->SetInjectionNvtxVersion(NVTX_VERSION);
  }
  g_copies.fetch_add(1, std::memory_order_relaxed);
  return 1;
}

Availability offer_nvtx_injection() {
  if (g_copies.load(std::memory_order_relaxed) != 0) return {true, "", "", ""};
  const char* named = std::getenv(kPathVariable);
  if (named != nullptr && *named != '\0') {
    if (leads_to_us(named)) return {true, "", "", ""};
    return {false, "nvtx_taken", std::string(kPathVariable) + " names " + named,
            "unset it, or do not run under the tool that set it"};
  }
  const std::string own = own_path();
  if (own.empty() || !is_callable(own.c_str())) {
    return {false, "nvtx_not_reachable",
            "NVTX loads a shared library, and this program has the recorder linked in",
            "link libgpufl.so, or run under `gpufl trace`"};
  }
  setenv(kPathVariable, own.c_str(), 1);
  return {true, "", "", ""};
}

}  // namespace gpufl::backend
