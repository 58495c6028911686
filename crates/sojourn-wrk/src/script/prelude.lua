-- What a script finds in its state, and how the host calls it. Returns the host's entry points.

local site, native = ...
local type, tostring, error, select = type, tostring, error, select
local find, sub, lower = string.find, string.sub, string.lower
local next, rawget, getmetatable, setmetatable = next, rawget, getmetatable, setmetatable

-- Compiled traces see no hooks, so an endless loop could not be interrupted.
jit.off()
jit.on = function() end

-- What scripts print keeps its place among what the program prints.
io.stdout:setvbuf("line")

-- An interrupted script cannot go on by catching the interruption.
do
  local raw_pcall, raw_xpcall, raw_resume = pcall, xpcall, coroutine.resume
  local function pass(ok, ...)
    if not ok and native.is_interrupted() then error((...), 0) end
    return ok, ...
  end
  function pcall(...) return pass(raw_pcall(...)) end
  function xpcall(...) return pass(raw_xpcall(...)) end
  function coroutine.resume(...) return pass(raw_resume(...)) end
end

wrk = {
  scheme = site.scheme,
  host = site.host,
  port = site.port,
  method = "GET",
  path = site.path,
  headers = site.headers,
  thread = native.thread,
  lookup = native.lookup,
  connect = native.connect,
}

-- Older scripts call it from init(); what it did is done anyway.
function wrk.init() end

-- `level`: whose mistake it is.
local function text(value, what, level)
  local kind = type(value)
  if kind == "string" then return value end
  if kind == "number" or kind == "boolean" then return tostring(value) end
  error("wrk.format: " .. what .. " is a " .. kind .. ", not a string", level)
end

local function field(name, value)
  return name .. ": " .. text(value, "header " .. name, 4) .. "\r\n"
end

function wrk.format(method, path, headers, body)
  method = method or wrk.method
  path = path or wrk.path
  headers = headers or wrk.headers
  body = body or wrk.body
  if type(headers) ~= "table" then
    error("wrk.format: headers are a " .. type(headers) .. ", not a table", 2)
  end
  local fields, has_host, is_chunked = "", false, false
  for name, value in next, headers do
    if type(name) ~= "string" then
      error("wrk.format: a header's name is a " .. type(name) .. ", not a string", 2)
    end
    local length = #name
    if length == 4 and lower(name) == "host" then
      has_host = true
      fields = fields .. field(name, value)
    elseif length == 14 and lower(name) == "content-length" then
      -- Ours is right.
    else
      if length == 17 and lower(name) == "transfer-encoding" then is_chunked = true end
      fields = fields .. field(name, value)
    end
  end
  if not has_host and headers ~= wrk.headers then
    for name, value in next, wrk.headers do
      if lower(name) == "host" then
        fields = field(name, value) .. fields
        break
      end
    end
  end
  local first = text(method, "method", 3) .. " " .. text(path, "path", 3) .. " HTTP/1.1\r\n"
  if not body then return first .. fields .. "\r\n" end
  body = text(body, "body", 3)
  if not is_chunked then fields = fields .. "Content-Length: " .. #body .. "\r\n" end
  return first .. fields .. "\r\n" .. body
end

-- The request of a script that has none of its own, for one that has: made once.
do
  local made
  function wrk.request()
    made = made or wrk.format()
    return made
  end
end

-- Headers of an answer. Most scripts look at one or at none, so they are read when asked for; a
-- table that is walked through is filled first.
local HEAD = {}
local answer = {}

local function fill(headers)
  local head = rawget(headers, HEAD)
  setmetatable(headers, nil)
  headers[HEAD] = nil
  local at = find(head, "\n", 1, true)
  while at do
    local colon = find(head, ":", at + 1, true)
    local line_end = find(head, "\n", at + 1, true)
    if not colon or not line_end then break end
    if colon < line_end then
      local _, _, value = find(head, "^[ \t]*(.-)[ \t\r]*\n", colon + 1)
      headers[sub(head, at + 1, colon - 1)] = value
    end
    at = line_end
  end
end

function answer.__index(headers, name)
  if type(name) ~= "string" then return nil end
  local head, found = rawget(headers, HEAD), nil
  local line = "\n" .. name .. ":"
  local from = 1
  while true do
    local _, colon = find(head, line, from, true)
    if not colon then return found end
    local _, value_end, value = find(head, "^[ \t]*(.-)[ \t\r]*\n", colon + 1)
    found, from = value, value_end or colon
  end
end

do
  local raw_pairs, raw_next, raw_rawget = pairs, next, rawget
  local function whole(headers)
    if type(headers) == "table" and getmetatable(headers) == answer then fill(headers) end
  end
  function pairs(t) whole(t) return raw_pairs(t) end
  function _G.next(t, key) whole(t) return raw_next(t, key) end
  function _G.rawget(t, key) whole(t) return raw_rawget(t, key) end
end

local host = {}

-- Whether the script has a function of this name.
function host.has(name)
  local kind = type(_G[name])
  if kind == "nil" then return false end
  if kind ~= "function" then error(name .. " is a " .. kind .. ", not a function", 0) end
  return true
end

-- How many arguments a function takes; math.huge for any number.
local function parameters(f)
  local info = require("jit.util").funcinfo(f)
  if not info.params or info.isvararg then return math.huge end
  return info.params
end

-- Ends the thread's preparations.
function host.start(arguments)
  local has_host = false
  for name in next, wrk.headers do
    has_host = has_host or (type(name) == "string" and lower(name) == "host")
  end
  if not has_host then wrk.headers["Host"] = site.authority end
  if host.has("init") then init(arguments) end
end

-- The request that every connection sends when there is no request().
function host.fixed()
  return wrk.format()
end

-- The function that looks at answers, and whether it takes more than a status.
local looks_at

function host.looks()
  looks_at = response
  return parameters(response) > 1
end

function host.request()
  local f = request
  if f then return f() end
  return wrk.format()
end

function host.delay()
  local f = delay
  if f then return f() end
  return 0
end

function host.status(status)
  local f = response
  if not f then return end
  if f ~= looks_at and parameters(f) > 1 then
    error("response was replaced by a function of more parameters: give the first as many", 0)
  end
  f(status)
end

function host.response(status, head, body)
  local f = response
  if f then f(status, setmetatable({ [HEAD] = head }, answer), body) end
end

function host.setup(thread)
  setup(thread)
end

function host.done(summary, latency, requests)
  done(summary, latency, requests)
end

function host.flush()
  io.stdout:flush()
end

return host
