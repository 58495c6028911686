// Row: 8.1 the order of microtasks and timers
export default async function () {
  const order = [];
  setTimeout(() => order.push('timer 20'), 20);
  setTimeout(() => order.push('timer 0'), 0);
  Promise.resolve().then(() => order.push('then'));
  (async () => {
    order.push('async body');
    await null;
    order.push('after await');
  })();
  order.push('body');
  await new Promise((resolve) => setTimeout(resolve, 40));
  console.log(order.join(', '));
}
