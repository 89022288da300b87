/** Columns that text takes on a terminal. */

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** Scripts and blocks whose characters take two columns (East Asian Wide and Fullwidth), roughly. */
const WIDE =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115F\u2E80-\u303E\u3041-\u33FF\u3400-\u4DBF\u4E00-\u9FFF\uA000-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6]|[\u{20000}-\u{3FFFD}])/u;
const ZERO = /^[\p{Mn}\p{Me}\u200B\u200D]+$/u;
const PLAIN = /^[\u0020-\u007E]*$/;

function widthOfSegment(segment: string): number {
  if (ZERO.test(segment)) return 0;
  return WIDE.test(segment) || segment.includes('\uFE0F') ? 2 : 1;
}

export function widthOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const { segment } of segmenter.segment(text)) width += widthOfSegment(segment);
  return width;
}

/** Cut to `width` columns, with `…` as the last one when something is cut. */
export function fit(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  if (width <= 0) return '';
  let kept = '';
  let used = 0;
  for (const { segment } of segmenter.segment(text)) {
    const next = used + widthOfSegment(segment);
    if (next > width - 1) break;
    kept += segment;
    used = next;
  }
  return `${kept}…`;
}

export function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)));
}
