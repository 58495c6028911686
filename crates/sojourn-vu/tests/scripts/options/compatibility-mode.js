// Row: 8.1 --compatibility-mode
// Args: --compatibility-mode=base
export default function () {
  console.log(typeof global);
}
