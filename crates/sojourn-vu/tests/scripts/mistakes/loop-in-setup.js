// Row: mistakes: an endless loop in setup is interrupted at its timeout
export const options = { setupTimeout: '500ms' };

export function setup() {
  for (;;);
}

export default function () {}
