/**
 * A few lines at the end of the terminal that are drawn over again and again. No alternate screen: what was printed
 * above stays readable.
 *
 * Invariant: the cursor is visible again after `close`, which also runs when the process exits by any way it can notice.
 */
import type { Io } from '../io.ts';
import { widthOf } from '../text/width.ts';

const HIDE = '\u001B[?25l';
const SHOW = '\u001B[?25h';
const CLEAR_BELOW = '\u001B[J';

export interface Screen {
  draw(lines: readonly string[]): void;
  /** Prints lines that stay, above the view. */
  above(text: string): void;
  /** Leaves the last view where it is, or takes it away. Idempotent. */
  close(options: { readonly keep: boolean }): void;
}

export function openScreen(io: Io): Screen {
  const { out } = io;
  let drawn: readonly string[] = [];
  let closed = false;
  out.write(HIDE);
  const forget = io.onExit(() => close({ keep: true }));

  /** To the first column of the first line drawn; lines that a narrower terminal wrapped count as several. */
  const back = (): string => {
    const height = drawn.reduce(
      (sum, line) => sum + Math.max(1, Math.ceil(visibleWidth(line) / Math.max(1, out.columns))),
      0,
    );
    return `\r${height > 0 ? `\u001B[${height}A` : ''}${CLEAR_BELOW}`;
  };

  const draw = (lines: readonly string[]): void => {
    if (closed) return;
    out.write(`${back()}${lines.map((line) => `${line}\n`).join('')}`);
    drawn = lines;
  };

  const close = (options: { readonly keep: boolean }): void => {
    if (closed) return;
    closed = true;
    forget();
    out.write(`${options.keep ? '' : back()}${SHOW}`);
  };

  return {
    draw,
    above(text) {
      if (closed) {
        out.write(text);
        return;
      }
      const lines = drawn;
      out.write(`${back()}${text}`);
      drawn = [];
      draw(lines);
    },
    close,
  };
}

// oxlint-disable-next-line no-control-regex -- the colours that this program itself adds
const COLORS = /\u001B\[\d+m/g;

function visibleWidth(line: string): number {
  return widthOf(line.replaceAll(COLORS, ''));
}
