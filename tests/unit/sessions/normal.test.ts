import { describe, expect, test } from 'vitest';
import { asActorName, asCallId } from '../../../src/kernel/index.ts';
import type { Message } from '../../../src/protocol/index.ts';
import { firstDifference, normalMessages, normalText } from '../../../src/sessions/index.ts';

const PLACES = {
  run: 'docs-1',
  trees: '/state/trees/docs-1',
  workspace: '/repo',
  home: '/home/me',
};

describe('L30 what varies from run to run has a name, and nothing else has', () => {
  test.each([
    ['in /state/trees/docs-1/parser/src', 'in <trees>/parser/src'],
    ['/repo/src and /home/me/x', '<workspace>/src and <home>/x'],
    ['branch troupe/docs-1/main', 'branch troupe/<run>/main'],
    ['at 2026-11-30T23:51:08.123Z', 'at <time>'],
    ['commit 0123456789abcdef0123456789abcdef01234567', 'commit <commit>'],
    ['||||||| d273843', '||||||| <commit>'],
    ['after 0.8 s, in 12ms', 'after <duration> s, in <duration>ms'],
    ['duration_ms 1.25', 'duration_ms <duration>'],
    ['[mail #12 from ada · chat.message]', '[mail #<n> from ada · chat.message]'],
    ['outputs/log_0mx3y3ckz561gdy4wer.log, prc-12', 'outputs/<log>.log, <prc>'],
  ])('%s', (given, wanted) => {
    expect(normalText(given, PLACES)).toBe(wanted);
  });

  test.each([
    '3 tests passed, 2 failed',
    'color #a1b2c3 and deadbeef',
    'docs-10 is another run, my-docs-1 too',
    'version 1.2.3 of 2026-11-30',
    'mail #3 is no header',
    'procedure prc and s',
  ])('%s stays', (text) => {
    expect(normalText(text, PLACES)).toBe(text);
  });

  const result = (tool: string, text: string, ok = true): Message[] => [
    { role: 'user', content: [{ type: 'result', call: asCallId('c1'), tool, ok, text }] },
  ];
  const shown = (messages: Message[], cut: string[] = []): string =>
    normalMessages(messages, { places: PLACES, inTask: true, cut: new Set(cut) });

  test('what a command printed is not compared, how it ended is', () => {
    expect(shown(result('bash', 'took 3'))).toBe(shown(result('bash', 'took 4')));
    expect(shown(result('bash', 'took 3'))).not.toBe(shown(result('bash', 'took 3', false)));
    expect(shown(result('read_file', 'a'))).not.toBe(shown(result('read_file', 'b')));
  });

  test('a call that was cut then may have come to anything', () => {
    expect(shown(result('read_file', 'a'), ['c1'])).toBe(
      shown(result('read_file', 'b', false), ['c1']),
    );
  });

  test('mail is compared by its words', () => {
    const mail = (text: string): Message[] => [
      {
        role: 'user',
        content: [
          { type: 'text', text, mail: [{ from: asActorName('ada'), type: 'chat.message', text }] },
        ],
      },
    ];
    expect(shown(mail('go'))).not.toBe(shown(mail('stop')));
  });
});

describe('the first difference', () => {
  test('none', () => {
    expect(firstDifference('a\nb', 'a\nb')).toBeNull();
  });

  test('has its line, both sides and what stands round it', () => {
    const found = firstDifference('1\n2\n3\n4\nold\n6', '1\n2\n3\n4\nnew\n6');
    expect(found).toMatchObject({ line: 5, before: 'old', after: 'new' });
    expect(found?.hunk).toBe('@@ -2,5 +2,5 @@\n 2\n 3\n 4\n-old\n+new\n 6');
  });

  test('of a long line shows where the sides part', () => {
    const found = firstDifference(`${'x'.repeat(2000)}OLD`, `${'x'.repeat(2000)}NEW`);
    expect(found?.before).toContain('OLD');
    expect(found?.before.length).toBeLessThan(400);
  });
});
