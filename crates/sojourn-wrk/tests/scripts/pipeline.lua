-- Three requests in one go, one of them with a body.
local batch

function init()
  local parts = {
    wrk.format("GET", "/first"),
    wrk.format("POST", "/second", nil, "a body"),
    wrk.format("GET", "/third"),
  }
  batch = table.concat(parts)
end

function request()
  return batch
end
