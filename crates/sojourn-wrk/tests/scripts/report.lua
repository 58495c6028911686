-- The figures as CSV.
function done(summary, latency, requests)
  local errors = summary.errors
  local columns = {
    { "duration_us", summary.duration },
    { "requests", summary.requests },
    { "bytes", summary.bytes },
    { "connect", errors.connect },
    { "read", errors.read },
    { "write", errors.write },
    { "status", errors.status },
    { "timeout", errors.timeout },
    { "min", latency.min },
    { "mean", latency.mean },
    { "max", latency.max },
    { "stdev", latency.stdev },
    { "p50", latency:percentile(50) },
    { "p99", latency:percentile(99.0) },
    { "rate_max", requests.max },
  }
  local samples = 0
  for place = 1, #latency do
    local value, count = latency(place)
    samples = samples + count
  end
  columns[#columns + 1] = { "samples", samples }
  local names, values = {}, {}
  for place, column in ipairs(columns) do
    names[place], values[place] = column[1], tostring(column[2])
  end
  io.write(table.concat(names, ","), "\n", table.concat(values, ","), "\n")
end
