// Figures in words, as the report prints them; shared by all pages.
"use strict";
const words = (() => {
  // Three significant digits and the unit that fits, as the report prints figures.
  const digits = (value, whole) => {
    if (value === 0) return "0";
    if (whole && Number.isInteger(value) && value < 1000) return String(value);
    if (value >= 999.5) return Math.round(value).toLocaleString("en");
    return value.toPrecision(3);
  };
  const duration = (ns) => {
    const sign = ns < 0 ? "−" : "", size = Math.abs(ns);
    for (const [unitNs, unit] of [[1, "ns"], [1e3, "µs"], [1e6, "ms"]]) {
      if (size < 999.5 * unitNs) return `${sign}${digits(size / unitNs, unitNs === 1)} ${unit}`;
    }
    return `${sign}${digits(size / 1e9, false)} s`;
  };
  const bytes = (size) => {
    for (const [unitBytes, unit] of [[1, "B"], [1e3, "kB"], [1e6, "MB"], [1e9, "GB"]]) {
      if (size < 999.5 * unitBytes) return `${digits(size / unitBytes, unitBytes === 1)} ${unit}`;
    }
    return `${digits(size / 1e12, false)} TB`;
  };
  const print = { count: (v) => digits(v, true), ns: duration, bytes, per_second: (v) => `${digits(v, true)}/s` };
  const pad = (n) => String(n).padStart(2, "0");
  const clock = (s, end) => {
    const whole = Math.floor(s);
    if (end <= 120) return `${Number.isInteger(s) ? s : s.toFixed(1)} s`;
    if (end <= 7200) return `${Math.floor(whole / 60)}:${pad(whole % 60)}`;
    return `${Math.floor(whole / 3600)}:${pad(Math.floor(whole / 60) % 60)}:${pad(whole % 60)}`;
  };
  return { print, clock };
})();
