// Row: mistakes: a throw in a timer
export const options = { iterations: 2 };

export default function () {
  if (__ITER === 0) setTimeout(() => { throw new Error('in a timer'); }, 5);
  console.log(`iteration ${__ITER}`);
}
