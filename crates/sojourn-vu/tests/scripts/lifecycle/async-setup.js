// Row: 8.2 setup and teardown may be async
export async function setup() {
  await new Promise((resolve) => setTimeout(resolve, 10));
  return { made: 'later' };
}

export default function (data) {
  console.log(data.made);
}

export async function teardown(data) {
  await Promise.resolve();
  console.log(`teardown ${data.made}`);
}
