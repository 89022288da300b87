import { expect, test } from 'vitest';
import { keysOf } from '../../../src/cli/keys.ts';
import { drawPrompt } from '../../../src/cli/prompt/draw.ts';
import {
  makePrompt,
  type PromptAction,
  type PromptEvent,
  type PromptState,
  promptStep,
} from '../../../src/cli/prompt/model.ts';
import { exactText, inputText, wrapLines } from '../../../src/cli/text/exact.ts';
import { PLAIN_STYLES } from '../../../src/cli/text/style.ts';
import { widthOf } from '../../../src/cli/text/width.ts';
import type { AskRow } from '../../../src/protocol/ask.ts';

function row(id: string, more: Partial<AskRow> = {}): AskRow {
  return {
    id,
    run: 'r1',
    actor: 'sub',
    ancestry: ['lead', 'ada', 'sub'],
    also: [],
    profile: 'implementer',
    task: 'talk',
    tool: 'bash',
    input: { command: `touch ${id}` },
    touches: [`runs touch ${id}`],
    reason: 'no rule allows it',
    rule: 'default',
    digest: `d-${id}`,
    requestedAt: '2026-01-01T00:00:00.000Z',
    expiresAt: '2026-01-01T00:10:00.000Z',
    offer: 'touch',
    ...more,
  };
}

class Desk {
  state: PromptState = makePrompt({ columns: 80, rows: 30 });
  now = 0;
  actions: PromptAction[] = [];

  take(event: PromptEvent): void {
    const { state, actions } = promptStep(this.state, event, this.now);
    this.state = state;
    this.actions.push(...actions);
  }

  queue(...rows: AskRow[]): void {
    this.take({ type: 'queue', rows });
  }

  /** After the time of grace. */
  press(...pieces: string[]): void {
    this.now += 1000;
    for (const piece of pieces) for (const key of keysOf(piece)) this.take({ type: 'key', key });
  }

  get answers(): PromptAction[] {
    return this.actions.filter((action) => action.type === 'answer');
  }

  draw(): string[] {
    const now = Date.parse('2026-01-01T00:01:00.000Z');
    return drawPrompt(this.state, { now, styles: PLAIN_STYLES, sandbox: 'no sandbox' });
  }
}

test('P35: what is shown stays, whoever comes first in the queue; newcomers are counted', () => {
  const desk = new Desk();
  desk.queue(row('b'));
  desk.queue(row('a'), row('b'), row('c'));
  expect(desk.draw()[0]).toBe(
    '? 1 of 3  sub (lead > ada > sub), implementer asks to use bash on task talk',
  );
  expect(desk.draw().join('\n')).toContain('touch b');
  desk.press('y');
  expect(desk.answers).toMatchObject([
    { params: { id: 'b', digest: 'd-b', effect: 'allow', scope: 'once' } },
  ]);
  // Twice is once.
  desk.press('y');
  expect(desk.answers).toHaveLength(1);
});

test('P35: keys mean nothing for 500 ms after what is shown has changed, and Enter never does', () => {
  const desk = new Desk();
  desk.queue(row('a'), row('b'));
  desk.now += 499;
  desk.take({ type: 'key', key: 'y' });
  expect(desk.answers).toEqual([]);
  desk.press('\r', ' ', 'Y', 'yy');
  expect(desk.answers).toEqual([]);
  // Answered elsewhere: the key that was meant for it is not for the next one.
  desk.queue(row('b'));
  desk.take({ type: 'key', key: 'y' });
  expect(desk.answers).toEqual([]);
  expect(desk.draw().join('\n')).toContain('answered elsewhere');
  desk.press('w');
  expect(desk.answers).toMatchObject([{ params: { id: 'b', scope: 'workspace', days: 7 } }]);
});

test('P36: what does not fit is folded, and can be allowed once only', () => {
  const desk = new Desk();
  const command = Array.from({ length: 40 }, (_, at) => `echo ${at}`).join('\n');
  desk.queue(row('a', { input: { command } }));
  const shown = desk.draw().join('\n');
  expect(shown).toMatch(/… \d+ more lines: v to view/);
  expect(shown).toContain('echo 39');
  expect(shown).not.toContain('w in this repository');
  desk.press('a', 'w');
  expect(desk.answers).toEqual([]);
  desk.press('v', 'G');
  expect(desk.draw().join('\n')).toContain('to 40 of 40');
  desk.press('q', 'y');
  expect(desk.answers).toMatchObject([{ params: { scope: 'once' } }]);
});

test('P36: of an input by reference all is loaded to be looked at', () => {
  const desk = new Desk();
  desk.queue(
    row('a', { tool: 'write_file', input: { path: 'x', content: 'head' }, blob: 'b', bytes: 9 }),
  );
  desk.press('w');
  expect(desk.answers).toEqual([]);
  desk.press('v');
  expect(desk.actions.at(-1)).toMatchObject({ type: 'load', row: { id: 'a' } });
  desk.take({ type: 'whole', id: 'a', input: { path: 'x', content: 'head\nand tail' } });
  expect(desk.draw().join('\n')).toContain('and tail');
});

test('a denial takes a reason; later puts off, and s brings back', () => {
  const desk = new Desk();
  desk.queue(row('a'), row('b'));
  desk.press('n', 'use ', 'x', '\u007F', 'y', '\r');
  expect(desk.answers).toMatchObject([{ params: { id: 'a', effect: 'deny', reason: 'use y' } }]);
  desk.take({ type: 'answered', id: 'a', ok: true, note: '' });
  desk.press('s');
  expect(desk.draw()).toEqual(['1 question put off: s shows them again']);
  desk.press('s');
  expect(desk.draw().join('\n')).toContain('touch b');
});

test('an answer that came too late is told, and what is gone is not shown', () => {
  const desk = new Desk();
  desk.queue(row('a'));
  desk.press('y');
  desk.queue();
  desk.take({ type: 'answered', id: 'a', ok: false, note: 'That ask is over: denied by bo' });
  expect(desk.draw()).toEqual(['That ask is over: denied by bo']);
});

test('P36: nothing invisible or alike is shown as it is, and no line is wider than the terminal', () => {
  expect(exactText('a\u202Eb\u00A0c\u200Bd\u001B[2J')).toBe(
    'a\\u{202e}b\\u{a0}c\\u{200b}d\\u{1b}[2J',
  );
  expect(exactText('cаt grün кот')).toBe('c\\u{430}t grün кот');
  expect(inputText({ path: 'a', content: 'x\npath: b' })).toBe('path: a\ncontent:\n│ x\n│ path: b');
  const long = wrapLines(`echo ${'語'.repeat(60)}`, 20);
  expect(long.join('').replaceAll('↪ ', '')).toBe(`echo ${'語'.repeat(60)}`);
  for (const columns of [20, 45, 120]) {
    const desk = new Desk();
    desk.take({ type: 'size', size: { columns, rows: 12 } });
    desk.queue(row('a', { input: { command: 'x'.repeat(500) } }));
    for (const line of desk.draw()) expect(widthOf(line)).toBeLessThanOrEqual(columns);
  }
});
