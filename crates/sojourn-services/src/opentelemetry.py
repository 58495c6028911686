"""A receiver of OTLP that takes metrics and traces over gRPC and over HTTP, and tells what it has.

Both servers and all messages are those of OpenTelemetry's and gRPC's own packages. What the
protocol's definition does not allow is refused with the reason: fields it does not know, ids of
another length or all zeros, times that run backwards, histograms that do not add up, the same
stream twice in a message, cumulative sums that fall.

Arguments: the port for gRPC, the port for HTTP. Besides OTLP, HTTP answers `GET /points`,
`GET /spans`, `GET /requests` and `GET /refused`, all in JSON.
"""

import gzip
import json
import math
import sys
import threading
from concurrent import futures
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import grpc
from google.protobuf.unknown_fields import UnknownFieldSet
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2 as metrics_service
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2_grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as trace_service
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2_grpc


class Refused(Exception):
    """What a message has that the protocol does not allow."""


def require(holds, what):
    if not holds:
        raise Refused(what)


def require_known(message):
    """No field that the definition lacks, at any depth."""
    require(len(UnknownFieldSet(message)) == 0, f"{message.DESCRIPTOR.full_name}: unknown field")
    for _, value in message.ListFields():
        for part in [value] if hasattr(value, "ListFields") else value_parts(value):
            require_known(part)


def value_parts(value):
    if isinstance(value, (str, bytes, int, float)):
        return []
    return [part for part in value if hasattr(part, "ListFields")]


def attributes_of(message, where):
    pairs = [(it.key, getattr(it.value, it.value.WhichOneof("value") or "string_value"))
             for it in message.attributes]
    found = dict(pairs)
    require(len(found) == len(pairs), f"{where}: an attribute twice")
    require(all(found), f"{where}: an attribute without name")
    return found


def span_of(span, resource):
    where = f"span `{span.name}`"
    require(span.name, f"{where}: no name")
    require(len(span.trace_id) == 16 and any(span.trace_id), f"{where}: trace id")
    require(len(span.span_id) == 8 and any(span.span_id), f"{where}: span id")
    parent = span.parent_span_id
    require(not parent or len(parent) == 8 and any(parent), f"{where}: parent's id")
    require(parent != span.span_id, f"{where}: its own parent")
    start, end = span.start_time_unix_nano, span.end_time_unix_nano
    require(0 < start <= end, f"{where}: times {start} to {end}")
    require(span.kind in span.SpanKind.values(), f"{where}: kind {span.kind}")
    require(span.status.code in span.status.StatusCode.values(), f"{where}: {span.status.code}")
    events = []
    for event in span.events:
        require(event.name and event.time_unix_nano, f"{where}: an event without name or time")
        events.append({"name": event.name, "unix_ns": event.time_unix_nano,
                       "attributes": attributes_of(event, where)})
    return {"resource": resource, "trace": span.trace_id.hex(), "span": span.span_id.hex(),
            "parent": parent.hex(), "name": span.name, "kind": span.SpanKind.Name(span.kind),
            "start_unix_ns": start, "end_unix_ns": end, "events": events,
            "status": span.status.StatusCode.Name(span.status.code),
            "message": span.status.message, "attributes": attributes_of(span, where)}


def histogram_of(point, where):
    buckets, bounds = list(point.bucket_counts), list(point.explicit_bounds)
    require(len(buckets) == len(bounds) + 1, f"{where}: bounds do not fit buckets")
    require(sum(buckets) == point.count, f"{where}: buckets do not add up")
    require(all(low < high for low, high in zip(bounds, bounds[1:])), f"{where}: bounds")
    figures = [point.sum, point.min, point.max]
    require(all(map(math.isfinite, figures + bounds)), f"{where}: a figure that is none")
    require(point.min <= point.max, f"{where}: its least is above its greatest")
    if point.count == 0:
        require(point.sum == 0 and not point.HasField("min"), f"{where}: a sum of nothing")
    return {"count": point.count, "sum": point.sum, "buckets": buckets, "bounds": bounds,
            "min": point.min, "max": point.max}


def points_of(metric, resource):
    where = f"metric `{metric.name}`"
    kind = metric.WhichOneof("data")
    require(metric.name, f"{where}: no name")
    require(kind in ("sum", "gauge", "histogram"), f"{where}: {kind}")
    data = getattr(metric, kind)
    if kind != "gauge":
        temporality = data.aggregation_temporality
        require(temporality in (1, 2), f"{where}: temporality {temporality}")
    require(data.data_points, f"{where}: no point")
    for point in data.data_points:
        start, now = point.start_time_unix_nano, point.time_unix_nano
        require(now > 0 and start <= now, f"{where}: times {start} to {now}")
        row = {"resource": resource, "name": metric.name, "unit": metric.unit, "kind": kind,
               "attributes": attributes_of(point, where), "start_unix_ns": start, "unix_ns": now}
        if kind != "gauge":
            row["is_cumulative"] = data.aggregation_temporality == 2
        if kind == "histogram":
            row |= histogram_of(point, where)
        else:
            row["is_monotonic"] = kind == "sum" and data.is_monotonic
            row["value"] = getattr(point, point.WhichOneof("value") or "none", None)
            require(row["value"] is not None, f"{where}: a point without value")
        yield row


class Book:
    """What was taken, and what was not."""

    def __init__(self):
        self.lock = threading.Lock()
        self.points, self.spans, self.requests, self.refused = [], [], [], []
        self.last, self.kinds, self.seen = {}, {}, set()

    def take(self, over, encoding, message):
        try:
            require_known(message)
            with self.lock:
                if message.DESCRIPTOR.name == "ExportMetricsServiceRequest":
                    self.take_metrics(message)
                else:
                    self.take_traces(message)
                self.requests.append({"over": over, "encoding": encoding,
                                      "message": message.DESCRIPTOR.full_name})
        except Refused as refused:
            self.refused.append(str(refused))
            raise

    def take_metrics(self, message):
        rows, streams = [], {}
        for of_resource in message.resource_metrics:
            resource = attributes_of(of_resource.resource, "resource")
            for of_scope in of_resource.scope_metrics:
                for metric in of_scope.metrics:
                    rows += points_of(metric, resource)
        for row in rows:
            stream = json.dumps([row["resource"], row["name"], row["attributes"]], sort_keys=True)
            require(stream not in streams, f"{stream}: twice in a message")
            streams[stream] = row
            self.follows(stream, row)
            kind = self.kinds.setdefault(row["name"], (row["kind"], row["unit"]))
            require(kind == (row["kind"], row["unit"]), f"{stream}: was {kind}")
        self.last |= streams
        self.points += rows

    def follows(self, stream, row):
        """A cumulative stream does not fall, and time does not run backwards."""
        last = self.last.get(stream)
        if last is None:
            return
        require(last["unix_ns"] <= row["unix_ns"], f"{stream}: is of an earlier time")
        if not row.get("is_cumulative") or last["start_unix_ns"] != row["start_unix_ns"]:
            return
        if row["kind"] == "histogram":
            require(last["bounds"] == row["bounds"], f"{stream}: other bounds")
            pairs = zip(last["buckets"], row["buckets"])
            require(all(before <= now for before, now in pairs), f"{stream}: a bucket falls")
        elif row["is_monotonic"]:
            require(last["value"] <= row["value"], f"{stream}: falls")

    def take_traces(self, message):
        rows, ids = [], set()
        for of_resource in message.resource_spans:
            resource = attributes_of(of_resource.resource, "resource")
            for of_scope in of_resource.scope_spans:
                rows += (span_of(span, resource) for span in of_scope.spans)
        for row in rows:
            key = (row["trace"], row["span"])
            require(key not in ids and key not in self.seen, f"span {key}: twice")
            ids.add(key)
        self.seen |= ids
        self.spans += rows


BOOK = Book()


class Calls(metrics_service_pb2_grpc.MetricsServiceServicer,
            trace_service_pb2_grpc.TraceServiceServicer):
    """Over gRPC. Both services have one method, of the same name."""

    def Export(self, request, context):
        metadata = dict(context.invocation_metadata())
        try:
            BOOK.take("grpc", metadata.get("grpc-encoding", ""), request)
        except Refused as refused:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(refused))
        if request.DESCRIPTOR.name == "ExportMetricsServiceRequest":
            return metrics_service.ExportMetricsServiceResponse()
        return trace_service.ExportTraceServiceResponse()


class Posts(BaseHTTPRequestHandler):
    """Over HTTP, and what is asked by tests."""

    protocol_version = "HTTP/1.1"
    SERVICES = {
        "/v1/metrics": (metrics_service.ExportMetricsServiceRequest,
                        metrics_service.ExportMetricsServiceResponse),
        "/v1/traces": (trace_service.ExportTraceServiceRequest,
                       trace_service.ExportTraceServiceResponse),
    }

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        if self.path not in self.SERVICES:
            return self.answer(404, "text/plain", b"no such path")
        request, response = self.SERVICES[self.path]
        if self.headers.get("content-type") != "application/x-protobuf":
            return self.answer(415, "text/plain", b"not application/x-protobuf")
        encoding = self.headers.get("content-encoding", "")
        try:
            require(encoding in ("", "gzip"), f"encoding {encoding}")
            body = gzip.decompress(body) if encoding else body
            BOOK.take("http", encoding, request.FromString(body))
        except Exception as error:
            return self.answer(400, "text/plain", repr(error).encode())
        return self.answer(200, "application/x-protobuf", response().SerializeToString())

    def do_GET(self):
        known = {"/points": BOOK.points, "/spans": BOOK.spans, "/requests": BOOK.requests,
                 "/refused": BOOK.refused}
        if self.path not in known:
            return self.answer(404, "text/plain", b"no such path")
        with BOOK.lock:
            body = json.dumps(known[self.path]).encode()
        return self.answer(200, "application/json", body)

    def answer(self, status, kind, body):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def main():
    grpc_port, http_port = map(int, sys.argv[1:])
    # Without the option two servers would share a port in silence.
    server = grpc.server(futures.ThreadPoolExecutor(4), options=[("grpc.so_reuseport", 0)])
    metrics_service_pb2_grpc.add_MetricsServiceServicer_to_server(Calls(), server)
    trace_service_pb2_grpc.add_TraceServiceServicer_to_server(Calls(), server)
    try:
        server.add_insecure_port(f"127.0.0.1:{grpc_port}")
    except RuntimeError as error:
        sys.exit(f"port {grpc_port} is in use: {error}")
    server.start()
    # It answers over HTTP only once gRPC is served as well.
    ThreadingHTTPServer(("127.0.0.1", http_port), Posts).serve_forever()


main()
