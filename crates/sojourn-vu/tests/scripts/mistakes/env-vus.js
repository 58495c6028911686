// Row: mistakes: K6_VUS that is no number
// Env: K6_VUS=many
export default function () {}
