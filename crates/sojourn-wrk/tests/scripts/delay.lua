-- A tenth of a second before each request.
function delay()
  return 100
end
