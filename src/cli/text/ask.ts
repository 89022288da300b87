/** One question to a person, as text: who asks, what exactly, what it touches, why it is asked, until when. Pure. */
import { counted } from '../../kernel/counted.ts';
import type { AskRow } from '../../protocol/ask.ts';
import { inputText } from './exact.ts';
import { safeLine } from './safe.ts';
import type { Styles } from './style.ts';
import { duration } from './time.ts';

/** Lines of an input, and characters of a line, that are shown; all of it is in `--json`. */
const LINES_MAX = 30;
const LINE_MAX = 2_000;

/** As much of an id as people type. */
export const shortId = (id: string): string => id.slice(0, 12);

/** Enough of a digest to compare by eye; all of it is in `--json`. */
export const shortDigest = (digest: string): string => safeLine(digest.slice(0, 16));

export function askedBy(row: AskRow): string {
  const chain = row.ancestry.length > 1 ? ` (${row.ancestry.join(' > ')})` : '';
  const also = row.also.length === 0 ? '' : ` and ${row.also.length} more`;
  return safeLine(`${row.actor}${chain}${also}, ${row.profile}`);
}

/** Ends with a line end. */
export function askText(row: AskRow, now: number, styles: Styles): string {
  const task = row.task === null ? '' : ` on task ${safeLine(row.task)}`;
  const also = row.also.length === 0 ? [] : [`  also     ${safeLine(row.also.join(', '))}`];
  return [
    `${styles.bold(shortId(row.id))}  ${askedBy(row)} asks to use ${styles.bold(safeLine(row.tool))}${task}`,
    ...also,
    ...inputLines(row).map((line) => `    ${line}`),
    ...row.touches.map((line, at) => `  ${at === 0 ? 'it      ' : '        '} ${safeLine(line)}`),
    `  why      ${safeLine(row.reason)} (rule ${safeLine(row.rule)})`,
    `  until    ${untilText(row, now)}`,
    `  digest   ${shortDigest(row.digest)}: an answer counts for exactly this`,
    row.offer === null
      ? '  offered  this once only'
      : `  offered  from now on: ${safeLine(row.offer)}`,
  ]
    .map((line) => `${line}\n`)
    .join('');
}

export function untilText(row: AskRow, now: number): string {
  if (row.expiresAt === null) return 'somebody answers';
  return `${row.expiresAt} (${duration(Math.max(0, Date.parse(row.expiresAt) - now))} left), then it is denied`;
}

function inputLines(row: AskRow): string[] {
  const { input } = row;
  const lines = inputText(input).split('\n');
  const shown = lines
    .slice(0, LINES_MAX)
    .map((line) => (line.length > LINE_MAX ? `${line.slice(0, LINE_MAX)}… (cut)` : line));
  const left = lines.length - shown.length;
  return left === 0
    ? shown
    : [...shown, `… ${counted(left, 'more line')}; all of it: troupe approvals --json`];
}
