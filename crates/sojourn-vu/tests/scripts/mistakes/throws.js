// Row: mistakes: an exception in an iteration: logged, counted as complete, exit code 0
export const options = { iterations: 2 };

function inner() {
  throw new Error('thrown inside');
}

export default function () {
  inner();
}
