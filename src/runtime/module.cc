// SPDX-License-Identifier: Apache-2.0
// The runtime module of compiled kernels: saved with the host code, run on the simulator.
#include <tvm/ffi/cast.h>
#include <tvm/ffi/container/array.h>
#include <tvm/ffi/container/map.h>
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/extra/json.h>
#include <tvm/ffi/extra/module.h>
#include <tvm/ffi/function.h>

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "allocations.h"

namespace tvm_ascend {
namespace {

namespace ffi = tvm::ffi;

constexpr const char* kKind = "ascend";
constexpr std::string_view kMagic = "TVMASCEND-MODULE-1\n";

// Set from Python: simulator options of every launch, and who is told each report.
struct LaunchSettings {
  std::mutex mutex;
  ffi::String options = "{}";
  ffi::Optional<ffi::Function> observer;
};

LaunchSettings& Settings() {
  static auto* settings = new LaunchSettings();
  return *settings;
}

// One tensor parameter of a kernel; a scalar has no shape.
struct Param {
  std::string name;
  bool is_tensor;
  DLDataType dtype;
  std::vector<int64_t> shape;
};

// A kernel: `parts` is what is saved ("name", "table", "control", "source", "params"), the rest is
// made from it.
struct Kernel {
  std::string name;
  ffi::Map<ffi::String, ffi::String> parts;
  std::vector<Param> params;
  std::once_flag control_made;
  ffi::Optional<ffi::Module> control_module;
  ffi::Optional<ffi::Function> launch;
};

ffi::Function Required(const char* global, const std::string& kernel) {
  auto found = ffi::Function::GetGlobal(global);
  if (!found.has_value()) {
    TVM_FFI_THROW(RuntimeError)
        << "kernel `" << kernel << "` cannot run: `" << global
        << "` is not in this process. Import tvm (with its compiler library) first.";
  }
  return *found;
}

std::vector<Param> ReadParams(const ffi::String& text) {
  std::vector<Param> params;
  for (const auto& item : ffi::json::Parse(text).cast<ffi::json::Array>()) {
    auto fields = item.cast<ffi::json::Object>();
    Param param{fields[ffi::String("name")].cast<ffi::String>(),
                false,
                ffi::StringToDLDataType(fields[ffi::String("dtype")].cast<ffi::String>()),
                {}};
    if (auto shape = fields[ffi::String("shape")].as<ffi::json::Array>()) {
      param.is_tensor = true;
      for (const auto& extent : *shape) param.shape.push_back(extent.cast<int64_t>());
    }
    params.push_back(std::move(param));
  }
  return params;
}

// A view of device memory; the caller keeps the memory.
struct BorrowedMemory {
  void* address;
  void AllocData(DLTensor* tensor) { tensor->data = address; }
  void FreeData(DLTensor*) {}
};

ffi::Tensor View(const Kernel& kernel, const Param& param, void* address) {
  auto block = Allocations::Global().Find(address);
  if (!block) {
    TVM_FFI_THROW(ValueError)
        << "argument `" << param.name << "` of kernel `" << kernel.name << "` is at " << address
        << ", which is not memory of ext_dev(0). Copy the tensor there first: "
        << "tvm.runtime.tensor(x, tvm.device('ext_dev', 0)).";
  }
  ffi::Tensor view = ffi::Tensor::FromNDAlloc(
      BorrowedMemory{address}, ffi::ShapeView(param.shape.data(), param.shape.size()), param.dtype,
      DLDevice{kDLCPU, 0});
  const std::size_t needed = ffi::GetDataSize(view);
  const std::size_t left = block->base + block->bytes - reinterpret_cast<std::uintptr_t>(address);
  if (needed > left) {
    TVM_FFI_THROW(ValueError) << "argument `" << param.name << "` of kernel `" << kernel.name
                              << "` needs " << needed << " bytes, but its memory ends after "
                              << left << ". Pass a tensor of the kernel's shape.";
  }
  return view;
}

void MakeControl(Kernel* kernel) {
  ffi::Function build = Required("target.build.llvm", kernel->name);
  ffi::Any lowered = Required("ffi.FromJSONGraphString", kernel->name)(kernel->parts["control"]);
  ffi::Any target = Required("target.Target", kernel->name)(ffi::String("llvm"));
  auto module = build(lowered, target).cast<ffi::Module>();
  kernel->control_module = module;
  ffi::Function prepare = Required("tvm_ascend.sim.prepare", kernel->name);
  kernel->launch =
      prepare(kernel->parts["table"], *module->GetFunction("control")).cast<ffi::Function>();
}

void RaiseHazards(const Kernel& kernel, const ffi::String& report) {
  auto parsed = ffi::json::Parse(report).cast<ffi::json::Object>();
  auto hazards = parsed[ffi::String("hazards")].cast<ffi::json::Array>();
  if (hazards.empty()) return;
  if (auto raise = ffi::Function::GetGlobal("tvm_ascend.runtime.raise_hazard")) {
    (*raise)(ffi::String(kernel.name), report);
    return;  // the options of this run let hazards pass
  }
  auto first = hazards[0].cast<ffi::json::Object>();
  TVM_FFI_THROW(HazardError) << first[ffi::String("kind")].cast<ffi::String>() << " in kernel `"
                             << kernel.name
                             << "`: " << first[ffi::String("message")].cast<ffi::String>();
}

void Run(Kernel* kernel, ffi::PackedArgs given) {
  if (given.size() != static_cast<int>(kernel->params.size())) {
    TVM_FFI_THROW(TypeError) << "kernel `" << kernel->name << "` takes " << kernel->params.size()
                             << " arguments, got " << given.size();
  }
  ffi::Array<ffi::Any> args;
  for (int i = 0; i < given.size(); ++i) {
    const Param& param = kernel->params[i];
    if (param.is_tensor) {
      args.push_back(View(*kernel, param, given[i].cast<void*>()));
    } else {
      args.push_back(given[i]);
    }
  }
  ffi::String options;
  ffi::Optional<ffi::Function> observer;
  {
    std::lock_guard<std::mutex> lock(Settings().mutex);
    options = Settings().options;
    observer = Settings().observer;
  }
  std::call_once(kernel->control_made, MakeControl, kernel);
  auto report = (*kernel->launch)(args, options).cast<ffi::String>();
  if (observer.has_value()) (*observer)(ffi::String(kernel->name), kernel->parts["table"], report);
  RaiseHazards(*kernel, report);
}

class AscendModuleObj final : public ffi::ModuleObj {
 public:
  explicit AscendModuleObj(const ffi::Map<ffi::String, ffi::Map<ffi::String, ffi::String>>& kernels)
      : saved_(kernels) {
    for (const auto& [name, parts] : kernels) {
      auto kernel = std::make_shared<Kernel>();
      kernel->name = parts["name"];
      kernel->parts = parts;
      kernel->params = ReadParams(parts["params"]);
      kernels_[name] = std::move(kernel);
    }
  }

  const char* kind() const final { return kKind; }
  int GetPropertyMask() const final {
    return ffi::Module::kBinarySerializable | ffi::Module::kRunnable;
  }
  bool ImplementsFunction(const ffi::String& name) final { return kernels_.count(name) != 0; }

  ffi::Optional<ffi::Function> GetFunction(const ffi::String& name) final {
    auto found = kernels_.find(name);
    if (found == kernels_.end()) return std::nullopt;
    return ffi::Function::FromPacked(
        [kernel = found->second](ffi::PackedArgs args, ffi::Any*) { Run(kernel.get(), args); });
  }

  ffi::Bytes SaveToBytes() const final {
    return ffi::Bytes(std::string(kMagic) + std::string(ffi::json::Stringify(ffi::Any(saved_))));
  }

  ffi::Array<ffi::String> GetWriteFormats() const final { return {"cce"}; }

  ffi::String InspectSource(const ffi::String&) const final {
    std::string text;
    for (const auto& [name, parts] : saved_) text += std::string(parts["source"]);
    return text;
  }

 private:
  ffi::Map<ffi::String, ffi::Map<ffi::String, ffi::String>> saved_;
  std::unordered_map<std::string, std::shared_ptr<Kernel>> kernels_;
};

ffi::Module CreateModule(ffi::Map<ffi::String, ffi::Map<ffi::String, ffi::String>> kernels) {
  return ffi::Module(ffi::make_object<AscendModuleObj>(kernels));
}

ffi::Module LoadModule(const ffi::Bytes& bytes) {
  std::string_view text(bytes.data(), bytes.size());
  if (text.substr(0, kMagic.size()) != kMagic) {
    TVM_FFI_THROW(ValueError)
        << "this library holds Ascend kernels that another version of tvm_ascend saved; build "
        << "and export it again with this version";
  }
  auto parsed =
      ffi::json::Parse(ffi::String(text.data() + kMagic.size(), text.size() - kMagic.size()));
  ffi::Map<ffi::String, ffi::Map<ffi::String, ffi::String>> kernels;
  for (const auto& [name, parts] : parsed.cast<ffi::json::Object>()) {
    ffi::Map<ffi::String, ffi::String> copied;
    for (const auto& [key, value] : parts.cast<ffi::json::Object>()) {
      copied.Set(key.cast<ffi::String>(), value.cast<ffi::String>());
    }
    kernels.Set(name.cast<ffi::String>(), copied);
  }
  return CreateModule(kernels);
}

void SetOptions(const ffi::String& options) {
  std::lock_guard<std::mutex> lock(Settings().mutex);
  Settings().options = options;
}

void SetObserver(ffi::Optional<ffi::Function> observer) {
  std::lock_guard<std::mutex> lock(Settings().mutex);
  Settings().observer = std::move(observer);
}

const bool registered = [] {
  auto define = [](const char* name, ffi::Function function) {
    ffi::Function::SetGlobal(name, std::move(function), /*override=*/true);
  };
  define("ffi.Module.load_from_bytes.ascend", ffi::Function::FromTyped(LoadModule));
  define("tvm_ascend.runtime.create_module", ffi::Function::FromTyped(CreateModule));
  define("tvm_ascend.runtime.set_options", ffi::Function::FromTyped(SetOptions));
  define("tvm_ascend.runtime.set_observer", ffi::Function::FromTyped(SetObserver));
  return true;
}();

}  // namespace
}  // namespace tvm_ascend
