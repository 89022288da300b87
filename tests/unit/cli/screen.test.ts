import { expect, test } from 'vitest';
import type { Io, Output } from '../../../src/cli/io.ts';
import { openScreen } from '../../../src/cli/view/screen.ts';

function makeIo(columns: { value: number }): { io: Io; written: () => string; exit: () => void } {
  let text = '';
  let onExit = (): void => undefined;
  const out: Output = {
    isTerminal: true,
    get columns() {
      return columns.value;
    },
    rows: 24,
    write(more) {
      text += more;
    },
    flush: () => Promise.resolve(),
    onResize: () => () => undefined,
  };
  const io: Io = {
    out,
    err: out,
    input: { canRead: () => false, read: () => () => undefined },
    env: {},
    cwd: '/',
    pid: 1,
    gone: new AbortController().signal,
    onSignal: () => () => undefined,
    onExit(listener) {
      onExit = listener;
      return () => undefined;
    },
  };
  const written = (): string => {
    const now = text;
    text = '';
    return now.replaceAll('\u001B', '^');
  };
  return { io, written, exit: () => onExit() };
}

test('a drawing goes over the one before, and text above it stays', () => {
  const { io, written } = makeIo({ value: 40 });
  const screen = openScreen(io);
  expect(written()).toBe('^[?25l');
  screen.draw(['one', 'two']);
  expect(written()).toBe('\r^[Jone\ntwo\n');
  screen.draw(['three']);
  expect(written()).toBe('\r^[2A^[Jthree\n');
  screen.above('said\n');
  expect(written()).toBe('\r^[1A^[Jsaid\n\r^[Jthree\n');
  screen.close({ keep: false });
  expect(written()).toBe('\r^[1A^[J^[?25h');
  screen.close({ keep: false });
  screen.draw(['more']);
  expect(written()).toBe('');
});

test('lines that a narrower terminal wrapped are counted as wrapped', () => {
  const columns = { value: 40 };
  const { io, written } = makeIo(columns);
  const screen = openScreen(io);
  screen.draw(['x'.repeat(40), '\u001B[31mshort\u001B[39m']);
  written();
  columns.value = 10;
  screen.draw([]);
  expect(written()).toBe('\r^[5A^[J');
});

test('the cursor is visible again when the process exits', () => {
  const { io, written, exit } = makeIo({ value: 40 });
  openScreen(io).draw(['one']);
  written();
  exit();
  expect(written()).toBe('^[?25h');
});
