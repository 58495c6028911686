//! A server of gRPC that keeps what it is sent, answers as it is told, or does not.

use std::{
    sync::{Arc, Mutex, mpsc::sync_channel},
    thread,
};

use bytes::Bytes;

/// Calls that were taken: path and message.
type Calls = Vec<(String, Vec<u8>)>;

/// Made of `h2`; each call is answered as its closure says.
pub(crate) struct Collector {
    pub(crate) port: u16,
    pub(crate) taken: Arc<Mutex<Calls>>,
}

/// What becomes of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reply {
    /// This status of gRPC's; 0 takes it.
    Status(u32),
    /// This status of HTTP's, as of a proxy that knows no gRPC.
    Http(u16),
    /// No answer: the call stays open.
    Stall,
}

impl Collector {
    /// `reply` is asked for each call, by its number from 0.
    pub(crate) fn start(reply: impl Fn(usize) -> Reply + Send + Sync + 'static) -> Self {
        let (told, port) = sync_channel(1);
        let taken = Arc::new(Mutex::new(Calls::new()));
        let own = Arc::clone(&taken);
        thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
                told.send(listener.local_addr().unwrap().port()).unwrap();
                let mut calls = 0;
                while let Ok((stream, _)) = listener.accept().await {
                    let mut connection = h2::server::handshake(stream).await.unwrap();
                    while let Some(Ok((request, respond))) = connection.accept().await {
                        let reply = reply(calls);
                        calls += 1;
                        let own = Arc::clone(&own);
                        tokio::spawn(async move { answer(request, respond, reply, &own).await });
                    }
                }
            });
        });
        Self { port: port.recv().unwrap(), taken }
    }
}

async fn answer(
    request: http::Request<h2::RecvStream>,
    mut respond: h2::server::SendResponse<Bytes>,
    reply: Reply,
    taken: &Mutex<Calls>,
) {
    assert_eq!(request.headers()["content-type"], "application/grpc+proto");
    assert_eq!(request.headers()["te"], "trailers");
    let path = request.uri().path().to_owned();
    let mut body = request.into_body();
    let mut message = Vec::new();
    while let Some(Ok(piece)) = body.data().await {
        body.flow_control().release_capacity(piece.len()).unwrap();
        message.extend_from_slice(&piece);
    }
    let head = http::Response::builder().header("content-type", "application/grpc");
    match reply {
        Reply::Status(0) => {
            assert_eq!(message[0], 0);
            let length = u32::from_be_bytes([message[1], message[2], message[3], message[4]]);
            assert_eq!(length as usize, message.len() - 5);
            taken.lock().unwrap().push((path, message.split_off(5)));
            let mut stream = respond.send_response(head.body(()).unwrap(), false).unwrap();
            stream.send_data(Bytes::from_static(&[0; 5]), false).unwrap();
            let mut trailers = http::HeaderMap::new();
            trailers.insert("grpc-status", 0.into());
            stream.send_trailers(trailers).unwrap();
        }
        Reply::Status(status) => {
            // Nothing but a status: all of it is in the headers.
            let head = head.header("grpc-status", status).header("grpc-message", "no");
            respond.send_response(head.body(()).unwrap(), true).unwrap();
        }
        Reply::Http(status) => {
            let head = http::Response::builder().status(status);
            respond.send_response(head.body(()).unwrap(), true).unwrap();
        }
        // Until the client goes away.
        Reply::Stall => {
            std::future::poll_fn(|context| respond.poll_reset(context)).await.ok();
        }
    }
}
