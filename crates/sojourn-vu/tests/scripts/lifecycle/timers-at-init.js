// Row: 8.1 setTimeout, clearTimeout, setInterval, clearInterval
// A timer of the top level belongs to it: options and iterations come after it.
export const options = { iterations: 3 };

setTimeout(() => {
  options.iterations = 1;
  console.log('fired', __VU);
}, 0);

let ticks = 0;
const every = setInterval(() => {
  ticks += 1;
  if (ticks === 2) clearInterval(every);
}, 5);

export default function () {
  console.log('iteration', ticks);
}
