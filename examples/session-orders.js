// Orders, followed until they are shipped, as a session script. The shop is `sojourn mock examples/orders-mock.yaml`:
//
//   sojourn mock examples/orders-mock.yaml --listen 127.0.0.1:8080
//   sojourn run examples/session-orders.js
definition.setTarget("http://127.0.0.1:8080");
definition.setArrivalPhases([{ duration: 5, rate: 10 }]);

// The shop's webhooks, in the words of journey files. `key` is where a message says which order it is of.
definition.addChannel("hooks", {
  webhook: { listen: "127.0.0.1:9000", path: "/hooks" },
  key: "$.order",
});
definition.addStage("paid", { on: "hooks", match: { type: "OrderPaid" } });
definition.addStage("shipped", { on: "hooks", match: { type: "OrderShipped" } });

definition.session("order", (session) => {
  session.setVar("id", session.ds.generate("random_uuid"));
  const id = session.getVar("id");
  session.post("/orders", {
    tag: "order",
    headers: { "Content-Type": "application/json" },
    payload: session.json({ id, amount: 42 }),
  });
  session.check("accepted", session.lastHttpStatus(), "=", 202);
  // Waits, and takes what is in the event. A client whose order is not paid for ends here.
  session.expect("paid", { key: id, within: 5, required: true, extraction: { jsonpath: { amount: "$.amount" } } });
  session.check("the amount is right", session.getVar("amount"), "=", 42);
  session.expect("shipped", { key: id, within: 10 });
});
