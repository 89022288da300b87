/** Colours, or none. A style wraps text that was made safe before. */

export type Style = (text: string) => string;

export interface Styles {
  readonly bold: Style;
  readonly dim: Style;
  readonly red: Style;
  readonly green: Style;
  readonly yellow: Style;
  readonly cyan: Style;
}

const plain: Style = (text) => text;
const sgr =
  (on: number, off: number): Style =>
  (text) =>
    text === '' ? '' : `\u001B[${on}m${text}\u001B[${off}m`;

export const PLAIN_STYLES: Styles = {
  bold: plain,
  dim: plain,
  red: plain,
  green: plain,
  yellow: plain,
  cyan: plain,
};

export const COLOR_STYLES: Styles = {
  bold: sgr(1, 22),
  dim: sgr(2, 22),
  red: sgr(31, 39),
  green: sgr(32, 39),
  yellow: sgr(33, 39),
  cyan: sgr(36, 39),
};

/** https://no-color.org: any text that is not empty turns colours off. */
export function wantsColor(
  isTerminal: boolean,
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  const noColor = env['NO_COLOR'];
  return isTerminal && (noColor === undefined || noColor === '') && env['TERM'] !== 'dumb';
}
