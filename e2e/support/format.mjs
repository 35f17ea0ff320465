// Numbers as the app writes them, computed by themselves.

export const count = (n) => n.toLocaleString("en");

/** A name of the API in words, and as a score is called. */
export const words = (name) => name.replaceAll("_", " ");
export const called = (name) => (name === "overall" ? "Overall score" : words(name.charAt(0).toUpperCase() + name.slice(1)));

/** In the unit of the models' prices; what costs less than 1 has four decimals. */
export const money = (amount) => amount.toFixed(amount !== 0 && amount < 1 ? 4 : 2);

/** A share; a small one with a digit more. */
export function percent(share) {
  const of100 = share * 100;
  return `${of100.toFixed(of100 !== 0 && Math.abs(of100) < 10 ? 1 : 0)} %`;
}

export function figure(value) {
  const text = value.toFixed(Math.abs(value) < 10 ? 2 : 1);
  return Number(text) === 0 ? "0" : text;
}

export const signed = (value) => (value > 0 && figure(value) !== "0" ? `+${figure(value)}` : figure(value));

/** Seconds, up to an hour. */
export function duration(seconds) {
  const whole = Math.round(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

/** As the app rounds: what lies in the middle of two becomes the even one. */
function fixed(value, digits) {
  const [halves, scaled] = [value * 2 ** (digits + 1), value * 10 ** digits];
  if (!Number.isInteger(halves) || halves % 2 === 0) return value.toFixed(digits);
  const below = Math.floor(scaled);
  return ((below + (below % 2)) / 10 ** digits).toFixed(digits);
}

/** Seconds of what is often over in less than one. */
export function seconds(took) {
  const ms = took * 1000;
  if (ms < 1000) return `${fixed(ms, ms < 10 ? 1 : 0)} ms`;
  return took < 60 ? `${fixed(took, 2)} s` : duration(took);
}
