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
#include <memory>
#include <string>
#include <vector>

#include "sim/inspect.h"
#include "sim/launch.h"
#include "sim/numeric.h"
#include "sim/twin.h"

namespace tvm_ascend {

namespace ffi = tvm::ffi;

namespace {

constexpr const char* kVersion = "2";  // of the program JSON and the entry points

// The arguments of a launch in the three shapes that control programs, twins and bounds checks
// want.
struct Arguments {
  std::vector<ffi::Any> packed;  // behind the words that say which core it is
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

// A control program starts with the block index; that of a mixed kernel with the block index, the
// index among the Vector cores of the block, and whether it runs on a Vector core.
std::vector<ffi::Any> place_words(const sim::Program& program, const sim::CorePlace& place) {
  std::vector<ffi::Any> words{static_cast<int64_t>(place.block)};
  if (!program.mixed()) return words;
  words.emplace_back(static_cast<int64_t>(place.sub));
  words.emplace_back(static_cast<int64_t>(!place.kind->cube()));
  return words;
}

// A program that is parsed once, as a function of launch arguments and options; it returns the
// report. `run_core` takes the program, the arguments and the core.
template <typename RunCore>
ffi::Function prepared(const ffi::String& program_json, RunCore run_core) {
  auto program = std::make_shared<const sim::Program>(sim::Program::parse(program_json));
  return ffi::Function::FromTyped(
      [program, run_core](const ffi::Array<ffi::Any>& args, const ffi::String& options_json) {
        return translated([&] {
          const sim::Options options = sim::Options::parse(options_json);
          const Arguments arguments = read_arguments(*program, args, options.fresh);
          sim::Context context(*program, options, arguments.tensors, check_signals);
          sim::run_blocks(
              context, [&](const sim::CorePlace& place) { run_core(*program, arguments, place); });
          return ffi::String(sim::report_json(context));
        });
      });
}

ffi::Function prepare(const ffi::String& program_json, const ffi::Function& control) {
  return translated([&] {
    return prepared(program_json, [control](const sim::Program& program, const Arguments& arguments,
                                            const sim::CorePlace& place) {
      std::vector<ffi::Any> words = place_words(program, place);
      words.insert(words.end(), arguments.packed.begin(), arguments.packed.end());
      const std::vector<ffi::AnyView> views(words.begin(), words.end());
      ffi::Any result;
      control.CallPacked(views.data(), static_cast<int32_t>(views.size()), &result);
    });
  });
}

ffi::Function prepare_twin(const ffi::String& program_json, const ffi::String& path) {
  return translated([&] {
    auto twin = std::make_shared<const sim::TwinLibrary>(std::string(path));
    return prepared(program_json,
                    [twin](const sim::Program&, const Arguments& arguments, const sim::CorePlace&) {
                      twin->run(arguments.words.data());
                    });
  });
}

// One list per core, or one list for all. The report has the results of get_value sites as
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
    sim::Context context(program, options, arguments.tensors, check_signals);
    if (lists.size() != 1 && lists.size() != context.places.size()) {
      throw sim::InputError("give one list of calls, or one per core");
    }
    std::vector<std::vector<int64_t>> results(context.places.size());  // by core
    sim::run_blocks(context, [&](const sim::CorePlace& place) {
      sim::issue_list(lists[lists.size() == 1 ? 0 : place.index], &results[place.index]);
    });
    std::string report = sim::report_json(context);
    sim::JsonWriter values;
    values.open('[');
    for (const std::vector<int64_t>& core : results) {
      for (int64_t result : core) values.value(result);
    }
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
      .def("tvm_ascend.sim.prepare", prepare)
      .def("tvm_ascend.sim.prepare_twin", prepare_twin)
      .def("tvm_ascend.sim.run_list", run_list)
      .def("tvm_ascend.sim.inspect", inspect);
}

}  // namespace

}  // namespace tvm_ascend
