-- Each thread ends after ten answers.
local answers = 0

function response(status)
  answers = answers + 1
  if answers == 10 then
    wrk.thread:stop()
  end
end
