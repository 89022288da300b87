/**
 * Makes a text fit for a URL: lower case, ASCII letters and digits, words joined by `-`.
 *
 * @param {string} text
 * @returns {string}
 */
export function slugify(text) {
  let slug = '';
  for (const char of text.normalize('NFKD').toLowerCase()) {
    if (/[a-z0-9]/.test(char)) slug += char;
    else if (!/[\u0300-\u036f]/.test(char) && !slug.endsWith('-')) slug += '-';
  }
  return slug.replace(/^-|-$/g, '');
}
