// Row: mistakes: allocation without end. k6 takes all the machine has; a limit per user makes an exception
// Record: no
// Expect: { "exit_code": 0, "log_has": "memory" }
export const options = { iterations: 2 };

export default function () {
  if (__ITER > 0) {
    console.log('the next iteration is well');
    return;
  }
  const all = [];
  for (;;) all.push(new Array(10000).fill(all.length));
}
