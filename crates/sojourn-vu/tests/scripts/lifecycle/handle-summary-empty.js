// Row: 8.2 handleSummary that returns nothing
export default function () {}

export function handleSummary() {}
