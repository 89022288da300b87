/** Durations as people write them: `500ms`, `90s`, `30m`, `1h`, `1h30m`, `2d`. */
import { DURATION_MAX_MS } from './limits.ts';

const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

export const DURATION: RegExp = /^(\d{1,9}(\.\d{1,3})?(ms|s|m|h|d))+$/;
export const DURATION_RULE = 'expected a duration such as 500ms, 90s, 30m or 1h';

/** Milliseconds; null when the text is no duration, is zero or is too long for a timer. */
export function parseDuration(text: string): number | null {
  if (!DURATION.test(text)) return null;
  let ms = 0;
  for (const [, amount, , unit] of text.matchAll(/(\d+(\.\d+)?)(ms|s|m|h|d)/g)) {
    ms += Number(amount) * (UNITS[unit ?? ''] ?? 0);
  }
  ms = Math.round(ms);
  return ms > 0 && ms <= DURATION_MAX_MS ? ms : null;
}
