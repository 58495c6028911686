// What a script may export again.
export const options = { iterations: 2 };

export function setup() {
  return 'from setup';
}

export const run = (data) => console.log(data);
