// Row: 8.3 --no-summary (v1 only)
// Binary: k6-v1
// Args: --no-summary
export default function () {
  console.log('ran');
}

export function handleSummary() {
  console.log('not called');
  return {};
}
