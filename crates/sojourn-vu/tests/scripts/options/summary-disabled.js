// Row: 8.3 --summary-mode=disabled: no handleSummary either
// Args: --summary-mode=disabled
export default function () {
  console.log('ran');
}

export function handleSummary() {
  console.log('not called');
  return {};
}
