-- Every request has a path of its own: thread, then number.
local threads = 0

function setup(thread)
  threads = threads + 1
  thread:set("id", threads)
end

function init()
  count = 0
end

function request()
  count = count + 1
  return wrk.format("GET", "/" .. id .. "/" .. count)
end
