// Row: 8.1 console.debug
// Args: -v
// Log: console
export default function () {
  console.debug('shown with -v');
}
