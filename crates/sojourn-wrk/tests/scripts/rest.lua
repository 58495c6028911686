-- Looks at everything of an answer, in every way there is.
local names = {}

function response(status, headers, body)
  assert(type(status) == "number" and type(body) == "string")
  assert(headers["Content-Length"] == tostring(#body), headers["Content-Length"])
  assert(headers["content-length"] == nil)
  for name, value in pairs(headers) do
    names[name] = value
  end
  assert(names["Content-Length"])
end
