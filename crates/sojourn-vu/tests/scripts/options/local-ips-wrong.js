// Row: 8.3 localIPs that are none
// Args: --local-ips 127.0.0.9-127.0.0.3
export default function () {}
