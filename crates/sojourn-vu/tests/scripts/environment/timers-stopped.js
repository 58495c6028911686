// Row: 8.2 timers that an iteration leaves behind; timers of the top level
export const options = { iterations: 3 };

let isReady = false;
setTimeout(() => (isReady = true), 5);

export default function () {
  console.log(isReady);
  setTimeout(() => console.log('fired'), 1);
  setTimeout(() => console.log('never'), 5000);
  setInterval(() => console.log('never'), 5000);
  clearTimeout(setTimeout(() => console.log('never'), 5000));
  if (__ITER === 1) throw new Error('at once');
  setTimeout(() => {
    throw new Error('later');
  }, 20);
}
