// Row: mistakes: options: iterations and stages
export const options = { iterations: 1, stages: [{ duration: '1s', target: 1 }] };

export default function () {}
