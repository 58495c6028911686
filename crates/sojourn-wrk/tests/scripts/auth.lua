-- Logs in first, then asks for what only a token opens.
local token

function request()
  if token then
    return wrk.format("GET", "/private", { Authorization = "Bearer " .. token })
  end
  return wrk.format("POST", "/login", { ["X-User"] = "test" }, "password")
end

function response(status, headers, body)
  if not token and status == 200 then
    token = headers["X-Token"]
    assert(body == "welcome", body)
  end
end
