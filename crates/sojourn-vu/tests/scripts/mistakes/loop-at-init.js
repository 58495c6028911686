// Row: mistakes: an endless loop at init. k6 waits for ever; a limit ends it
// Record: no
// Expect: { "exit_code": 107, "log_has": "init" }
for (;;);

export default function () {}
