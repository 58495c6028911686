"""A gRPC service behind gRPC's own server, with its own reflection and health checks.

Arguments: the folder for `shop.protoset`, and the versions of reflection to serve (`v1`,
`v1alpha`, or both between a comma). Prints its port, and serves until its input ends.

`shop.Orders/Place` answers with what it was asked, the number doubled. Reflection is for those
alone who say `authorization: may look`. Health: the server serves, `shop.Orders` does not.
"""

import pathlib
import sys
from concurrent import futures

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, timestamp_pb2
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection, reflection_pb2

Field = descriptor_pb2.FieldDescriptorProto


def add(message, name, number, kind, **more):
    message.field.add(name=name, number=number, type=kind, label=Field.LABEL_OPTIONAL, **more)


def files():
    """`shop.proto` and `lines.proto`, which it imports, and what they import themselves."""
    lines = descriptor_pb2.FileDescriptorProto(name="deep/lines.proto", package="shop.lines", syntax="proto3")
    line = lines.message_type.add(name="Line")
    add(line, "article", 1, Field.TYPE_STRING)
    add(line, "count", 2, Field.TYPE_INT32)
    shop = descriptor_pb2.FileDescriptorProto(name="shop.proto", package="shop", syntax="proto3")
    shop.dependency.extend(["deep/lines.proto", "google/protobuf/timestamp.proto"])
    order = shop.message_type.add(name="Order")
    add(order, "line", 1, Field.TYPE_MESSAGE, type_name=".shop.lines.Line")
    add(order, "placed_at", 2, Field.TYPE_MESSAGE, type_name=".google.protobuf.Timestamp")
    service = shop.service.add(name="Orders")
    service.method.add(name="Place", input_type=".shop.Order", output_type=".shop.Order")
    stamp = descriptor_pb2.FileDescriptorProto()
    timestamp_pb2.DESCRIPTOR.CopyToProto(stamp)
    return [stamp, lines, shop]


class MayLook(grpc.ServerInterceptor):
    """Lets nobody look who does not say that he may."""

    def intercept_service(self, go_on, details):
        words = dict(details.invocation_metadata)
        if "reflection" in details.method and words.get("authorization") != "may look":
            def refuse(requests, context):
                context.abort(grpc.StatusCode.UNAUTHENTICATED, "who are you?")
            return grpc.stream_stream_rpc_method_handler(refuse)
        return go_on(details)


def place(order, _context):
    order.line.count *= 2
    return order


def serve(folder, versions):
    described = files()
    whole = descriptor_pb2.FileDescriptorSet(file=described)
    (folder / "shop.protoset").write_bytes(whole.SerializeToString())
    pool = descriptor_pool.DescriptorPool()
    for file in [*described, of(health_pb2), of(reflection_pb2)]:
        pool.Add(file)
    order = message_factory.GetMessageClass(pool.FindMessageTypeByName("shop.Order"))
    server = grpc.server(futures.ThreadPoolExecutor(4), interceptors=[MayLook()])

    def handle(service, method, handler):
        server.add_generic_rpc_handlers(
            [grpc.method_handlers_generic_handler(service, {method: handler})])

    handle("shop.Orders", "Place", grpc.unary_unary_rpc_method_handler(
        place, order.FromString, order.SerializeToString))
    checks = health.HealthServicer()
    checks.set("", health_pb2.HealthCheckResponse.SERVING)
    checks.set("shop.Orders", health_pb2.HealthCheckResponse.NOT_SERVING)
    health_pb2_grpc.add_HealthServicer_to_server(checks, server)
    names = ["shop.Orders", health.SERVICE_NAME]
    reflects = reflection.ReflectionServicer(names, pool=pool)
    for version in versions:
        # Both versions have the same messages.
        handle(f"grpc.reflection.{version}.ServerReflection", "ServerReflectionInfo",
               grpc.stream_stream_rpc_method_handler(
                   reflects.ServerReflectionInfo,
                   reflection_pb2.ServerReflectionRequest.FromString,
                   reflection_pb2.ServerReflectionResponse.SerializeToString))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)
    sys.stdin.read()
    server.stop(None)


def of(module):
    file = descriptor_pb2.FileDescriptorProto()
    module.DESCRIPTOR.CopyToProto(file)
    return file


if __name__ == "__main__":
    serve(pathlib.Path(sys.argv[1]), sys.argv[2].split(","))
