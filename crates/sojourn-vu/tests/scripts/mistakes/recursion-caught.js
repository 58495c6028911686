// Row: mistakes: recursion without end that is caught. k6 goes on for minutes
// Record: no
// Expect: { "exit_code": 0, "log_has": "Error" }
function again(n) {
  return again(n + 1) + 1;
}

export default function () {
  try {
    again(0);
  } catch (error) {
    console.log(error.name);
  }
}
