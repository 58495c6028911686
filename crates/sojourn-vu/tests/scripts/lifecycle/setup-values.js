// Row: 8.2 setup's result may be anything that JSON has
export function setup() {
  return __ENV.SETUP === undefined ? null : JSON.parse(__ENV.SETUP);
}

export default function (data) {
  console.log(`default: ${typeof data} ${JSON.stringify(data)}`);
}
