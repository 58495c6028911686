// Row: mistakes: recursion without end. k6 goes on for minutes
// Record: no
// Expect: { "exit_code": 0, "log_has": "the next iteration is well" }
function again(n) {
  return again(n + 1) + 1;
}

export const options = { iterations: 2 };

export default function () {
  if (__ITER === 0) again(0);
  console.log('the next iteration is well');
}
