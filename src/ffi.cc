// SPDX-License-Identifier: Apache-2.0
// Global functions of the simulator for tvm-ffi: the only file that knows both.
#include <tvm/ffi/any.h>
#include <tvm/ffi/container/array.h>
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/error.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/function.h>
#include <tvm/ffi/reflection/registry.h>
#include <tvm/ffi/string.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "sim/inspect.h"
#include "sim/launch.h"
#include "sim/numeric.h"
#include "sim/twin.h"

namespace tvm_ascend {

namespace ffi = tvm::ffi;

namespace {

constexpr const char* kVersion = "1";  // of the program JSON and the entry points

// The arguments of a launch in the three shapes that control programs, twins and bounds checks
// want.
struct Arguments {
  std::vector<ffi::Any> packed;  // [0] is the block index
  std::vector<int64_t> words;
  std::vector<sim::GmArg> tensors;
};

int64_t extent_bytes(const DLTensor& tensor) {
  int64_t elements = 1;
  for (int i = 0; i < tensor.ndim; ++i) {
    if (tensor.shape[i] == 0) return 0;
    if (tensor.strides == nullptr) {
      elements *= tensor.shape[i];
    } else {
      elements += (tensor.shape[i] - 1) * tensor.strides[i];
    }
  }
  return elements * ((tensor.dtype.bits * tensor.dtype.lanes + 7) / 8);
}

void add_tensor(const std::string& name, const DLTensor& tensor, bool fresh, Arguments* into) {
  char* data = static_cast<char*>(tensor.data) + tensor.byte_offset;
  const auto address = static_cast<int64_t>(reinterpret_cast<uintptr_t>(data));
  into->packed.push_back(static_cast<void*>(data));
  into->words.push_back(address);
  into->tensors.push_back({name, address, extent_bytes(tensor),
                           std::vector<int64_t>(tensor.shape, tensor.shape + tensor.ndim), fresh});
}

Arguments read_arguments(const sim::Program& program, const ffi::Array<ffi::Any>& args,
                         const std::vector<int>& fresh) {
  if (args.size() != program.params.size()) {
    throw sim::InputError("kernel `" + program.kernel + "` takes " +
                          std::to_string(program.params.size()) + " arguments, got " +
                          std::to_string(args.size()));
  }
  Arguments out;
  out.packed.push_back(static_cast<int64_t>(0));
  for (size_t i = 0; i < program.params.size(); ++i) {
    const sim::KernelParam& param = program.params[i];
    ffi::Any arg = args[i];
    if (param.tensor) {
      auto tensor = arg.try_cast<ffi::Tensor>();
      if (!tensor.has_value())
        throw sim::InputError("argument `" + param.name + "` of kernel `" + program.kernel +
                              "` is not a tensor");
      const bool is_fresh = std::count(fresh.begin(), fresh.end(), static_cast<int>(i)) != 0;
      add_tensor(param.name, *tensor.value().GetDLTensorPtr(), is_fresh, &out);
    } else if (sim::is_float(param.dtype)) {
      out.packed.push_back(arg.cast<double>());
      out.words.push_back(sim::bit_cast<int64_t>(arg.cast<double>()));
    } else {
      out.packed.push_back(arg.cast<int64_t>());
      out.words.push_back(arg.cast<int64_t>());
    }
  }
  return out;
}

[[noreturn]] void raise(const sim::InputError& error) { TVM_FFI_THROW(ValueError) << error.what(); }

// Ctrl-C: whatever the frontend's signal handler raised becomes the launch's error.
void check_signals() {
  if (TVMFFIEnvCheckSignals() != 0) throw ffi::EnvErrorAlreadySet();
}

// The simulator's own exceptions become errors of tvm-ffi; those of the control program already
// are.
template <typename Work>
auto translated(Work work) {
  try {
    return work();
  } catch (const sim::InputError& error) {
    raise(error);
  }
}

ffi::String launch(const ffi::String& program_json, const ffi::Function& control,
                   const ffi::Array<ffi::Any>& args, const ffi::String& options_json) {
  return translated([&] {
    const sim::Program program = sim::Program::parse(program_json);
    const sim::Options options = sim::Options::parse(options_json);
    Arguments arguments = read_arguments(program, args, options.fresh);
    sim::Context context(program, options, arguments.tensors, check_signals);
    std::vector<ffi::AnyView> views(arguments.packed.begin(), arguments.packed.end());
    sim::run_blocks(context, [&](int block) {
      views[0] = static_cast<int64_t>(block);
      ffi::Any result;
      control.CallPacked(views.data(), static_cast<int32_t>(views.size()), &result);
    });
    return ffi::String(sim::report_json(context));
  });
}

ffi::String launch_twin(const ffi::String& program_json, const ffi::String& path,
                        const ffi::Array<ffi::Any>& args, const ffi::String& options_json) {
  return translated([&] {
    const sim::Program program = sim::Program::parse(program_json);
    const sim::Options options = sim::Options::parse(options_json);
    const Arguments arguments = read_arguments(program, args, options.fresh);
    const sim::TwinLibrary twin{std::string(path)};
    sim::Context context(program, options, arguments.tensors, check_signals);
    sim::run_blocks(context, [&](int) { twin.run(arguments.words.data()); });
    return ffi::String(sim::report_json(context));
  });
}

// One list per block, or one list for all. The report has the results of get_value sites as
// "values".
ffi::String run_list(const ffi::String& program_json, const ffi::String& calls_json,
                     const ffi::Array<ffi::Any>& args, const ffi::String& options_json) {
  return translated([&] {
    const sim::Program program = sim::Program::parse(program_json);
    const sim::Options options = sim::Options::parse(options_json);
    const Arguments arguments = read_arguments(program, args, options.fresh);
    std::vector<sim::CallList> lists;
    const sim::Json calls = sim::Json::parse(calls_json);
    for (const sim::Json& list : calls.items()) lists.push_back(sim::parse_calls(list));
    if (lists.size() != 1 && static_cast<int>(lists.size()) != program.grid) {
      throw sim::InputError("give one list of calls, or one per block");
    }
    sim::Context context(program, options, arguments.tensors, check_signals);
    std::vector<int64_t> results;
    sim::run_blocks(context, [&](int block) {
      sim::issue_list(lists[lists.size() == 1 ? 0 : block], &results);
    });
    std::string report = sim::report_json(context);
    sim::JsonWriter values;
    values.open('[');
    for (int64_t result : results) values.value(result);
    report.insert(report.size() - 1, ",\"values\":" + values.close(']').take());
    return ffi::String(report);
  });
}

ffi::String inspect(const ffi::String& program_json, const ffi::String& calls_json) {
  return translated([&] { return ffi::String(sim::inspect(program_json, calls_json)); });
}

TVM_FFI_STATIC_INIT_BLOCK() {
  tvm::ffi::reflection::GlobalDef()
      .def("tvm_ascend.version", [] { return ffi::String(kVersion); })
      .def("tvm_ascend.sim.launch", launch)
      .def("tvm_ascend.sim.launch_twin", launch_twin)
      .def("tvm_ascend.sim.run_list", run_list)
      .def("tvm_ascend.sim.inspect", inspect);
}

}  // namespace

}  // namespace tvm_ascend
