-- Each thread counts for itself; done() adds up.
local threads = {}

function setup(thread)
  threads[#threads + 1] = thread
  thread:set("settings", { name = "thread " .. #threads, weights = { 1, 2, 3 } })
end

function init(args)
  assert(settings.weights[3] == 3)
  requests, responses, statuses = 0, 0, {}
  greeting = args[1] .. " " .. args[2]
end

function request()
  requests = requests + 1
  return wrk.format()
end

function response(status)
  responses = responses + 1
  statuses[status] = (statuses[status] or 0) + 1
end

function done(summary)
  local sent, answered, fine = 0, 0, 0
  for _, thread in ipairs(threads) do
    sent = sent + thread:get("requests")
    answered = answered + thread:get("responses")
    fine = fine + (thread:get("statuses")[200] or 0)
    print(thread:get("settings").name .. ": " .. thread:get("greeting"))
  end
  print("threads " .. #threads)
  print("sent " .. sent)
  print("answered " .. answered)
  print("fine " .. fine)
  print("reported " .. summary.requests)
end
