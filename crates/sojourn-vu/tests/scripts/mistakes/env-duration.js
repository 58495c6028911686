// Row: mistakes: K6_DURATION that is none
// Env: K6_DURATION=soon
export default function () {}
