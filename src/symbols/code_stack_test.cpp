// SPDX-License-Identifier: Apache-2.0
#include "symbols/code_stack.hpp"

#include <gtest/gtest.h>

namespace gpufl::symbols {
namespace {

using base::Json;

Json dict(const char* text) {
  const auto line = Json::parse(text);
  EXPECT_TRUE(line.is_ok()) << text;
  return line ? *line : Json();
}

TEST(OriginTest, OfPython) {
  for (const char* file :
       {"/home/me/train.py", "train.py", "<string>", "<ipython-input-1>",
        "/home/me/lib/pythonic/a.py", "/opt/app/lib/model.py", "/home/me/c.py"}) {
    EXPECT_EQ(origin_of_python(file), Origin::User) << file;
  }
  for (const char* file :
       {"/usr/lib/python3.12/threading.py", "/opt/conda/lib/python3.11/json/decoder.py",
        "/home/me/.venv/lib/python3.12/site-packages/torch/cuda/__init__.py",
        "/usr/lib/python3/dist-packages/numpy/core.py", "<frozen importlib._bootstrap>",
        "<eval_with_key>.3 from /x.py:1 in exec",
        "/tmp/torchinductor_me/aa/caayemptj7e7cd4rw24a4l63q4gppjposetilsifnmfbulu665uk.py"}) {
    EXPECT_EQ(origin_of_python(file), Origin::Library) << file;
  }
}

TEST(OriginTest, OfNativeCode) {
  const auto of = [](const char* module, const CodeLocation& place = {}) {
    return origin_of_native(module, place);
  };
  EXPECT_EQ(of("/home/me/train"), Origin::User);
  EXPECT_EQ(of("/home/me/build/libmodel.so", {"step()", "/home/me/model.cpp", 4, false}),
            Origin::User);
  for (const char* module :
       {"/usr/lib/x86_64-linux-gnu/libcuda.so.580.1", "/home/me/x/libcudart.so.13",
        "/opt/conda/lib/libtorch_cuda.so", "/usr/lib/x86_64-linux-gnu/libfoo.so",
        "/usr/bin/python3.12", "/opt/conda/bin/python", "/lib64/ld-linux-x86-64.so.2",
        "/venv/lib/python3.12/site-packages/apex/amp_C.so", "/opt/gpufl/libgpufl.so.0.1",
        "/home/me/.triton/cache/AB12/__triton_launcher.cpython-312-x86_64-linux-gnu.so"}) {
    EXPECT_EQ(of(module), Origin::Library) << module;
  }
  EXPECT_EQ(of(""), Origin::Internal);
  EXPECT_EQ(of("/home/me/train", {"_start", "", 0, false}), Origin::Internal);
}

TEST(OriginTest, OfCodeThatWasLinkedOrInlinedIntoAProgram) {
  const auto of = [](const char* function, const char* file) {
    return origin_of_native("/home/me/train", {function, file, 7, false});
  };
  EXPECT_EQ(of("cudaStreamSynchronize", ""), Origin::Library);
  EXPECT_EQ(of("cuLaunchKernel", ""), Origin::Library);
  EXPECT_EQ(of("__cudart812", ""), Origin::Library);
  EXPECT_EQ(of("custom_step()", ""), Origin::User);
  EXPECT_EQ(of("cudaish()", ""), Origin::User);
  EXPECT_EQ(of("std::sort<int*>(int*, int*)", "/usr/include/c++/12/bits/stl_algo.h"),
            Origin::Library);
  EXPECT_EQ(of("cudaLaunchKernel<float>", "/usr/local/cuda-13/include/cuda_runtime.h"),
            Origin::Library);
  EXPECT_EQ(of("__cudaLaunchKernel_helper()", "/home/me/cuda/include/crt/device_functions.h"),
            Origin::Library);
  EXPECT_EQ(of("__device_stub__Z5emptyv()", "/tmp/tmpxft_1_train.cudafe1.stub.c"), Origin::Library);
  EXPECT_EQ(of("cudaStep()", "/home/me/cuda_step.cpp"), Origin::User);
}

class CodeStackTest : public ::testing::Test {
 protected:
  CodeStackTest() {
    frames_.add(dict(R"({"dict":"text","ids":[1,2,3,4,5],"values":["/x/libcudart.so.13",
        "/home/me/train","/home/me/train.py","/v/lib/python3.12/site-packages/torch/__init__.py",
        "/usr/bin/python3.12"]})"));
    frames_.add(dict(R"({"dict":"name","ids":[1,2],"values":["train_step","synchronize"]})"));
    frames_.add(dict(R"({"dict":"frame","ids":[1,2,3,4,5],"values":[
        {"module":1,"offset":4096,"build_id":"ab"},{"module":2,"offset":64},
        {"function":1,"file":3,"line":90},{"function":2,"file":4,"line":7},
        {"module":5,"offset":1}]})"));
    frames_.add(dict(R"({"dict":"stack","ids":[1],"values":[{"frames":[1,4,5,3]}]})"));
  }
  SessionFrames frames_;
  SymbolFile symbols_;
};

TEST_F(CodeStackTest, ThePythonLineBehindTheLibraries) {
  const auto stack = resolve_stack(frames_.stacks().at(1), frames_, symbols_);
  ASSERT_EQ(stack.size(), 4u);
  EXPECT_EQ(frame_text(stack[0]), "/x/libcudart.so.13+0x1000");
  EXPECT_EQ(frame_text(stack[1]),
            "synchronize at /v/lib/python3.12/site-packages/torch/__init__.py:7");
  ASSERT_NE(user_frame(stack), nullptr);
  EXPECT_EQ(site_text(*user_frame(stack)), "train.py:90 in train_step()");
  EXPECT_TRUE(user_frame(stack)->is_python());
}

TEST_F(CodeStackTest, InlinedFunctionsAreFrames) {
  symbols_.frames[2] = {{"std::move(int&)", "/usr/include/c++/12/bits/move.h", 9, true},
                        {"step(int)", "/home/me/step.cpp", 12, true},
                        {"main", "/home/me/main.cpp", 3, false}};
  symbols_.frames[1] = {{"cudaDeviceSynchronize", "", 0, false}};
  const auto stack = resolve_stack({1, 2}, frames_, symbols_);
  ASSERT_EQ(stack.size(), 4u);
  EXPECT_EQ(frame_text(stack[0]), "cudaDeviceSynchronize in /x/libcudart.so.13");
  EXPECT_EQ(stack[1].origin, Origin::Library);
  EXPECT_EQ(site_text(*user_frame(stack)), "step.cpp:12 in step(int)");
  EXPECT_EQ(frame_text(stack[3]), "main at /home/me/main.cpp:3");
  EXPECT_EQ(api_function(stack), "cudaDeviceSynchronize");
  EXPECT_EQ(api_function(resolve_stack({2, 1}, frames_, symbols_)), "");
}

// nvcc's host side of a kernel has the kernel's line; the launch is the line outside of it.
TEST_F(CodeStackTest, TheLineThatLaunchesAndNotTheKernels) {
  symbols_.frames[1] = {{"__cudaLaunchKernel_helper", "/cuda/include/crt/x.h", 9, true},
                        {"__device_stub__ZN12_GLOBAL__N_15scaleIfEEvPT_(float*)",
                         "/tmp/tmpxft_1_train.cudafe1.stub.c", 14, false}};
  symbols_.frames[2] = {
      {"void (anonymous namespace)::scale<float>(float*)", "/home/me/a.cu", 22, true},
      {"scale_all(float*)", "/home/me/a.cu", 44, false}};
  EXPECT_EQ(site_text(*user_frame(resolve_stack({1, 2}, frames_, symbols_))),
            "a.cu:44 in scale_all(float*)");
  symbols_.frames[2] = {{"rescale(float*)", "/home/me/a.cu", 44, false}};
  EXPECT_EQ(site_text(*user_frame(resolve_stack({1, 2}, frames_, symbols_))),
            "a.cu:44 in rescale(float*)");
}

// A runtime call that is implemented by a driver call, both from one library or linked in.
TEST_F(CodeStackTest, TheCallThatTheProgramMade) {
  symbols_.frames[1] = {{"cuStreamSynchronize", "", 0, true},
                        {"__cudart812", "", 0, true},
                        {"cudaStreamSynchronize", "", 0, false}};
  EXPECT_EQ(api_function(resolve_stack({1, 4, 3}, frames_, symbols_)), "cudaStreamSynchronize");
  EXPECT_EQ(api_function(resolve_stack({3}, frames_, symbols_)), "");
}

TEST_F(CodeStackTest, WithoutSymbolsTheModule) {
  const auto stack = resolve_stack({1, 2}, frames_, symbols_);
  EXPECT_EQ(site_text(*user_frame(stack)), "train+0x40");
  symbols_.frames[2] = {{"step", "", 0, false}};
  const auto named = resolve_stack({1, 2}, frames_, symbols_);
  EXPECT_EQ(site_text(*user_frame(named)), "step() of train");
}

// An extension of the user's own: without debug info its address says less than the line of Python.
TEST_F(CodeStackTest, ALineOfPythonBeforeNativeCodeWithoutOne) {
  EXPECT_EQ(site_text(*user_frame(resolve_stack({1, 2, 5, 4, 3}, frames_, symbols_))),
            "train.py:90 in train_step()");
  symbols_.frames[2] = {{"step", "", 0, false}};
  EXPECT_EQ(site_text(*user_frame(resolve_stack({1, 2, 5, 3}, frames_, symbols_))),
            "train.py:90 in train_step()");
  // Libraries' lines are nobody's own, and with a line of its own the extension is the place.
  EXPECT_EQ(site_text(*user_frame(resolve_stack({1, 2, 5, 4}, frames_, symbols_))),
            "step() of train");
  symbols_.frames[2] = {{"step", "/home/me/step.cpp", 12, false}};
  EXPECT_EQ(site_text(*user_frame(resolve_stack({1, 2, 5, 3}, frames_, symbols_))),
            "step.cpp:12 in step()");
}

TEST_F(CodeStackTest, NoFrameOfTheProgram) {
  EXPECT_EQ(user_frame(resolve_stack({1, 5}, frames_, symbols_)), nullptr);
  EXPECT_EQ(user_frame(resolve_stack({}, frames_, symbols_)), nullptr);
  const auto unknown = resolve_stack({99, 0, -1}, frames_, symbols_);
  EXPECT_EQ(unknown.size(), 3u);
  EXPECT_EQ(user_frame(unknown), nullptr);
  EXPECT_EQ(frame_text(unknown[0]), "?");
}

}  // namespace
}  // namespace gpufl::symbols
