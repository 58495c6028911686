// Row: mistakes: options: a stage without a target
export const options = { stages: [{ duration: '1s' }] };

export default function () {}
