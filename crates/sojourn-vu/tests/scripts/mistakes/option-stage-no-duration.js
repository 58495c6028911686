// Row: mistakes: options: a stage without a duration
export const options = { stages: [{ target: 1 }] };

export default function () {}
