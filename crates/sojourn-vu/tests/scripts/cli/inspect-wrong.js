// Row: 8.11 inspect of a script whose options are wrong
// Command: inspect
export const options = { vus: 2, iterations: 1, stages: [{ duration: '1s', target: 1 }] };

export default function () {}
