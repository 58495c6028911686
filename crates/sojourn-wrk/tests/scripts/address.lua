-- Goes to another address than the URL says: the first word's host and port.
local function address(words)
  local host, port = words:match("^(.-):(%d+)$")
  for _, found in ipairs(wrk.lookup(host, port)) do
    if wrk.connect(found) then return found end
  end
  error("nobody listens at " .. words)
end

function setup(thread)
  local elsewhere = os.getenv("ELSEWHERE")
  thread.addr = address(elsewhere)
  assert(tostring(thread.addr) == elsewhere)
end

function init()
  print("goes to " .. tostring(wrk.thread.addr))
end
