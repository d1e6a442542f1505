// SPDX-License-Identifier: Apache-2.0
// grpc_call: calls a gRPC service that says by reflection what it takes, as grpcurl does.
//
//   grpc_call ADDRESS TOKEN list                     prints the services
//   grpc_call ADDRESS TOKEN SERVICE/METHOD JSON      prints each answer as one line of JSON
//   ... sizes                                        prints the number of bytes of each answer instead
//
// TOKEN may be empty. The server's certificate is not checked. Exits with the number of the call's status, and prints
// its message to stderr.
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/util/json_util.h>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/generic/generic_stub.h>
#include <reflection.grpc.pb.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <map>

#include "tests/rpc/channel.h"

namespace {

namespace pb = google::protobuf;
namespace v1alpha = grpc::reflection::v1alpha;
using Stream = grpc::ClientReaderWriter<v1alpha::ServerReflectionRequest, v1alpha::ServerReflectionResponse>;

int Report(const grpc::Status& status) {
  if (!status.ok()) std::cerr << status.error_message() << "\n";
  return status.error_code();
}

v1alpha::ServerReflectionResponse Reflect(Stream& stream, const v1alpha::ServerReflectionRequest& request) {
  v1alpha::ServerReflectionResponse response;
  if (!stream.Write(request) || !stream.Read(&response)) std::cerr << "no answer to reflection\n";
  return response;
}

void ListServices(Stream& stream) {
  v1alpha::ServerReflectionRequest request;
  request.set_list_services("*");
  const v1alpha::ServerReflectionResponse response = Reflect(stream, request);
  for (const auto& service : response.list_services_response().service()) std::cout << service.name() << "\n";
}

// Adds the service's file to `pool`, with all that it imports.
void AddFiles(Stream& stream, const std::string& service, pb::DescriptorPool* pool) {
  v1alpha::ServerReflectionRequest request;
  request.set_file_containing_symbol(service);
  const auto response = Reflect(stream, request);
  std::map<std::string, pb::FileDescriptorProto> files;
  for (const std::string& bytes : response.file_descriptor_response().file_descriptor_proto()) {
    pb::FileDescriptorProto file;
    if (file.ParseFromString(bytes)) files[file.name()] = file;
  }
  const std::function<void(const std::string&)> add = [&](const std::string& name) {
    const auto at = files.find(name);
    if (at == files.end() || pool->FindFileByName(name) != nullptr) return;
    for (const std::string& imported : at->second.dependency()) add(imported);
    pool->BuildFile(at->second);
  };
  for (const auto& [name, file] : files) add(name);
}

grpc::ByteBuffer BytesOf(const pb::Message& message) {
  const grpc::Slice slice(message.SerializeAsString());
  return grpc::ByteBuffer(&slice, 1);
}

bool ParseBytes(const grpc::ByteBuffer& bytes, pb::Message* message) {
  grpc::Slice slice;
  return bytes.DumpToSingleSlice(&slice).ok() && message->ParseFromArray(slice.begin(), static_cast<int>(slice.size()));
}

// Makes the call, and prints what is answered: only its size if `sizes`.
grpc::Status Call(const std::shared_ptr<grpc::Channel>& channel, grpc::ClientContext& context,
                  const pb::MethodDescriptor& method, const std::string& json, bool sizes) {
  pb::DynamicMessageFactory factory;
  const std::unique_ptr<pb::Message> request(factory.GetPrototype(method.input_type())->New());
  const auto read = pb::util::JsonStringToMessage(json, request.get());
  if (!read.ok()) return {grpc::StatusCode::INVALID_ARGUMENT, std::string(read.message())};
  grpc::GenericStub stub(channel);
  grpc::CompletionQueue queue;
  void* tag = nullptr;
  bool well = false;
  const auto done = [&] { return queue.Next(&tag, &well) && well; };
  const auto call = stub.PrepareCall(&context, "/" + method.service()->full_name() + "/" + method.name(), &queue);
  call->StartCall(nullptr);
  if (done()) {
    call->WriteLast(BytesOf(*request), grpc::WriteOptions(), nullptr);
    done();
    for (grpc::ByteBuffer bytes; call->Read(&bytes, nullptr), done();) {
      if (sizes) {
        std::cout << bytes.Length() << std::endl;
        continue;
      }
      const std::unique_ptr<pb::Message> response(factory.GetPrototype(method.output_type())->New());
      std::string text;
      if (!ParseBytes(bytes, response.get()) || !pb::util::MessageToJsonString(*response, &text).ok())
        return {grpc::StatusCode::INTERNAL, "the answer cannot be read"};
      std::cout << text << std::endl;
    }
  }
  grpc::Status status;
  call->Finish(&status, nullptr);
  done();
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> given(argv + 1, argv + argc);
  if (given.size() < 3) return Report({grpc::StatusCode::INVALID_ARGUMENT, "see the head of grpc_call.cc"});
  const auto channel = tutti::rpc::ChannelTo(given[0]);
  grpc::ClientContext of_reflection;
  const auto stream = v1alpha::ServerReflection::NewStub(channel)->ServerReflectionInfo(&of_reflection);
  const std::string method_name = given[2];
  pb::DescriptorPool pool;
  if (method_name == "list") {
    ListServices(*stream);
  } else {
    AddFiles(*stream, method_name.substr(0, method_name.find('/')), &pool);
  }
  stream->WritesDone();
  const grpc::Status reflected = stream->Finish();
  if (!reflected.ok() || method_name == "list") return Report(reflected);
  std::string full_name = method_name;
  std::replace(full_name.begin(), full_name.end(), '/', '.');
  const pb::MethodDescriptor* method = pool.FindMethodByName(full_name);
  if (method == nullptr) return Report({grpc::StatusCode::UNIMPLEMENTED, "there is no " + method_name});
  grpc::ClientContext context;
  if (!given[1].empty()) context.AddMetadata("authorization", "Bearer " + given[1]);
  return Report(
      Call(channel, context, *method, given.size() > 3 ? given[3] : "{}", given.size() > 4 && given[4] == "sizes"));
}
