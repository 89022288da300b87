/**
 * Shortens a text to at most `max` characters. What was cut off is shown by an ellipsis.
 *
 * @param {string} text
 * @param {number} max
 * @returns {string}
 */
export function truncate(text, max) {
  if (text.length < max) return text;
  return `${text.slice(0, max - 1).trimEnd()}…`;
}
