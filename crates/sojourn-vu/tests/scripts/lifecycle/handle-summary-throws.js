// Row: 8.2 handleSummary that throws: the built-in summary is printed
export default function () {}

export function handleSummary() {
  throw new Error('no summary today');
}
