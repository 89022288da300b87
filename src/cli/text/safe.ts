/**
 * Text from agents, mail and files as it may go to a terminal. Escape sequences could move the cursor, set titles or
 * fake other output; bidi marks could show another text than there is. All of them become visible.
 */

/** Controls but TAB and LF, C1, line and paragraph separators, bidi and other invisible format characters. */
// oxlint-disable-next-line no-control-regex -- these are what is looked for
const UNSAFE = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u2028\u2029]|(?!\u200D)\p{Cf}/gu;

const visible = (char: string): string => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`;

/** Several lines stay several lines; CRLF becomes LF. */
export function safeText(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll(UNSAFE, visible);
}

/** One line: line ends and tabs become spaces, runs of spaces one. */
export function safeLine(text: string): string {
  return safeText(text).replaceAll(/\s+/g, ' ').trim();
}
