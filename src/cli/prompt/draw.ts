/** The question as lines, none wider than the terminal and no more than it has room for. Pure. */

import { counted } from '../../kernel/counted.ts';
import { askedBy, shortDigest, shortId, untilText } from '../text/ask.ts';
import { exactText } from '../text/exact.ts';
import { safeLine } from '../text/safe.ts';
import type { Styles } from '../text/style.ts';
import { fit } from '../text/width.ts';
import {
  GRANT_DAYS_HERE,
  INDENT,
  inputLines,
  inputRoom,
  noGrant,
  type PromptState,
  viewRoom,
} from './model.ts';

export interface PromptDrawing {
  readonly now: number;
  readonly styles: Styles;
  /** What holds the command if it is allowed, in words. */
  readonly sandbox: string;
}

/** Empty while nothing waits. */
export function drawPrompt(state: PromptState, at: PromptDrawing): string[] {
  const { columns } = state.size;
  const cut = (line: string): string => fit(line, columns);
  if (state.shown === null) {
    const note = state.note === '' ? [] : [at.styles.dim(cut(safeLine(state.note)))];
    if (state.later.size === 0) return note;
    const text = `${counted(state.later.size, 'question')} put off: s shows them again`;
    return [...note, at.styles.yellow(cut(text))];
  }
  switch (state.mode) {
    case 'help':
      return HELP.map(cut);
    case 'view':
      return viewLines(state, at);
    case 'choose':
    case 'reason':
    case 'sent':
      return askLines(state, at);
  }
}

const HELP: readonly string[] = [
  'y  yes, this once: exactly the call that is shown, and no other',
  'a  yes, and the like from now on for this profile until the run ends',
  `w  yes, and the like for everybody in this repository for ${GRANT_DAYS_HERE} days`,
  'n  no: you may say why, and the agent goes on without it',
  's  later: the next question; it waits here, and for `troupe approve` elsewhere',
  'v  look at all of it',
  'Nothing is chosen by Enter. Ctrl-C stops the run as ever. Any key goes back.',
];

function askLines(state: PromptState, { now, styles, sandbox }: PromptDrawing): string[] {
  const { shown, size } = state;
  if (shown === null) return [];
  const cut = (line: string): string => fit(line, size.columns);
  const all = state.queue.length;
  const place = all === 1 ? '' : `1 of ${all}  `;
  const task = shown.task === null ? '' : ` on task ${safeLine(shown.task)}`;
  const head = `? ${place}${askedBy(shown)} asks to use ${safeLine(shown.tool)}${task}`;
  const offer = noGrant(state) === null && shown.offer !== null ? shown.offer : null;
  const touches = exactText(safeLine(shown.touches.join('; ')));
  return [
    styles.yellow(cut(head)),
    ...folded(state).map((line) => `${' '.repeat(INDENT)}${line}`),
    cut(`  it     ${touches}`),
    cut(`  why    ${safeLine(shown.reason)} (rule ${safeLine(shown.rule)}); ${sandbox}`),
    cut(
      `  until  ${untilText(shown, now)} · ${shortId(shown.id)} · digest ${shortDigest(shown.digest)}`,
    ),
    ...(offer === null ? [] : [cut(`  a, w   ${exactText(safeLine(offer))}`)]),
    ...(state.note === '' ? [] : [styles.dim(cut(safeLine(state.note)))]),
    styles.bold(cut(keyLine(state, offer !== null))),
  ];
}

function keyLine(state: PromptState, lasting: boolean): string {
  if (state.mode === 'sent') return 'Answering …';
  if (state.mode === 'reason') {
    return `No, because (Enter sends, Esc goes back): ${exactText(state.reason)}_`;
  }
  const from = lasting ? ' · a in this run · w in this repository' : '';
  return `y once${from} · n no · s later · v view · ? help`;
}

/** The beginning and the last line; what is between them is counted. */
function folded(state: PromptState): string[] {
  const lines = inputLines(state);
  const room = inputRoom(state.size);
  const { shown } = state;
  const isHead = shown?.blob !== undefined && !state.whole.has(shown.id);
  if (lines.length <= room) {
    return isHead ? [...lines, '… this is its beginning: v to view'] : lines;
  }
  const head = lines.slice(0, Math.max(1, room - 2));
  const left = lines.length - head.length - 1;
  const middle = `… ${counted(left, 'more line')}: v to view`;
  return [...head, fit(middle, state.size.columns - INDENT), ...lines.slice(-1)];
}

function viewLines(state: PromptState, { styles }: PromptDrawing): string[] {
  const { size, shown, top } = state;
  const lines = inputLines(state);
  const room = viewRoom(size);
  const part = lines.slice(top, top + room);
  const isHead = shown?.blob !== undefined && !state.whole.has(shown.id);
  const where = `lines ${top + 1} to ${top + part.length} of ${lines.length}${isHead ? ', loading …' : ''}`;
  return [
    ...part.map((line) => `${' '.repeat(INDENT)}${line}`),
    styles.bold(fit(`${where} · space, b, ↑, ↓, g, G · q back`, size.columns)),
  ];
}
