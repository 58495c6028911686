-- The same POST again and again: the table alone says what is sent.
wrk.method = "POST"
wrk.path = "/payments?from=wrk"
wrk.body = '{"amount": 12}'
wrk.headers["Content-Type"] = "application/json"
