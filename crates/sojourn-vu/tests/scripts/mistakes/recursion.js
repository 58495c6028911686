// Row: mistakes: recursion without end
function again(n) {
  return again(n + 1) + 1;
}

export const options = { iterations: 2 };

export default function () {
  if (__ITER === 0) again(0);
  console.log('the next iteration is well');
}
