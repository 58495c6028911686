// JUnit's XML: one case for each threshold.

const escaped = (text) =>
  String(text).replace(
    /[<>&"']/g,
    (it) =>
      ({
        '<': '&lt;',
        '>': '&gt;',
        '&': '&amp;',
        '"': '&quot;',
        "'": '&apos;',
      })[it],
  );

/** `options`: `{ name, classname }` of the suite. */
export function jUnit(data, options = {}) {
  const name = options.name ? escaped(options.name) : 'k6 thresholds';
  const classname = options.classname ? escaped(options.classname) : 'Unknown folder';
  const cases = [];
  let failures = 0;
  for (const [metric, { thresholds }] of Object.entries(data.metrics)) {
    for (const [threshold, { ok }] of Object.entries(thresholds || {})) {
      const head = `<testcase name="${escaped(metric)} - ${escaped(threshold)}" classname="${classname}"`;
      if (!ok) failures += 1;
      cases.push(ok ? `${head} />` : `${head}><failure message="failed" /></testcase>`);
    }
  }
  return (
    '<?xml version="1.0"?>\n' +
    `<testsuites tests="${cases.length}" failures="${failures}">\n` +
    `<testsuite name="${name}" tests="${cases.length}" failures="${failures}">` +
    `${cases.length > 0 ? '\n' : ''}${cases.join('\n')}\n</testsuite >\n</testsuites >`
  );
}
